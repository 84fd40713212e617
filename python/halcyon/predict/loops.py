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
    runs = _joined(learnt)
    repeated = {symbol for symbol, count in runs if count > 1}
    numbers: dict[tuple[int, ...], int] = {}
    counts: dict[int, list[int]] = {}
    sequence: list[int] = []
    for place, (symbol, count) in enumerate(runs):
        key: tuple[int, ...] = (symbol,)
        if symbol in repeated:
            after = runs[place + 1][0] if place + 1 < len(runs) else -1
            key = (runs[place - 1][0] if place else -1, symbol, after)
        number = numbers.setdefault(key, len(numbers))
        counts.setdefault(number, []).append(count)
        sequence.append(number)
    open_runs = {}
    for key, number in numbers.items():
        own = counts[number]
        symbol = key[len(key) // 2]
        open_runs[number] = Run(False, symbol, sum(own) / len(own), min(own), max(own))
    # Runs of one symbol are never neighbours: what is no rule has the exponent 1 there.
    rules = [
        replace(rule, body=tuple(run if run.rule else open_runs[run.number] for run in rule.body))
        for rule in rules_from(core().rules_of(sequence))
    ]
    return replace(learnt, rules=rules)


def _joined(learnt: Learnt) -> list[tuple[int, int]]:
    """The input, run by run: symbol and length."""
    joined: list[tuple[int, int]] = []
    for symbol, count in _runs(learnt):
        if joined and joined[-1][0] == symbol:
            joined[-1] = (symbol, joined[-1][1] + count)
            continue
        joined.append((symbol, count))
        if len(joined) > MOST_RUNS:
            raise UsageError(f"{learnt.path}: more than {MOST_RUNS:,} runs of calls, too many to look for loops in")
    return joined


def _runs(learnt: Learnt) -> Iterator[tuple[int, int]]:
    """The input; neighbours may be of one symbol. Rules may be nested deeper than Python calls functions."""
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
