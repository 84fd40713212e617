"""A grammar with counts left open: loops that differ only in how often a call is repeated are the same."""

from collections.abc import Iterator
from dataclasses import replace

from halcyon.compiled import core
from halcyon.errors import UsageError
from halcyon.predict.learnt import START, Learnt, Run, rules_from

MOST_RUNS = 5_000_000
"""Of the input, one after the other: some seconds."""


def with_open_counts(learnt: Learnt) -> Learnt:
    """The same input, where a run of one call site between the same two others is one, however long it is.

    The rules are those of such runs. What they hold then has the least and the most repetitions, and their mean.
    UsageError: the input has too many runs.
    """
    numbers: dict[tuple[int, int, int], int] = {}
    counts: dict[int, list[int]] = {}
    sequence: list[int] = []
    for key, count in _between_others(learnt):
        number = numbers.setdefault(key, len(numbers))
        counts.setdefault(number, []).append(count)
        sequence.append(number)
        if len(sequence) > MOST_RUNS:
            raise UsageError(f"{learnt.path}: more than {MOST_RUNS:,} runs of calls, too many to look for loops in")
    runs = {}
    for (_, symbol, _), number in numbers.items():
        own = counts[number]
        runs[number] = Run(False, symbol, sum(own) / len(own), min(own), max(own))
    rules = [
        replace(rule, body=tuple(run if run.rule else _repeated(runs[run.number], run.exponent) for run in rule.body))
        for rule in rules_from(core().rules_of(sequence))
    ]
    return replace(learnt, rules=rules)


def _repeated(run: Run, times: float) -> Run:
    """Runs of one symbol are never neighbours, so that `times` is 1."""
    assert times == 1
    return run


def _between_others(learnt: Learnt) -> Iterator[tuple[tuple[int, int, int], int]]:
    """Each run of the input: the symbol before (0: none), its own, the one after; its length."""
    before, own, count = -1, -1, 0
    for symbol, exponent in _runs(learnt):
        if symbol == own:
            count += exponent
            continue
        if count:
            yield (before, own, symbol), count
        before, own, count = own, symbol, exponent
    if count:
        yield (before, own, -1), count


def _runs(learnt: Learnt) -> Iterator[tuple[int, int]]:
    """The input, run by run; rules may be nested deeper than Python calls functions."""
    way = [iter(learnt.rule[START].body)]
    repeated: list[Run] = []
    while way:
        run = next(way[-1], None)
        if run is None:
            way.pop()
            if repeated:
                run = repeated.pop()
                if run.exponent > 1:
                    repeated.append(replace(run, exponent=run.exponent - 1))
                    way.append(iter(learnt.rule[run.number].body))
        elif run.rule:
            repeated.append(run)
            way.append(iter(learnt.rule[run.number].body))
        else:
            yield run.number, int(run.exponent)
