"""What rules cost: calls, bytes and times of what a rule stands for, from the means of call sites and transitions."""

from dataclasses import dataclass

from halcyon.predict.learnt import START, Learnt, Run, Symbol
from halcyon.quantities import seconds


@dataclass(frozen=True)
class Cost:
    """Of one use. Bytes and times are means: of all calls of a call site, of all gaps of a transition."""

    calls: float
    bytes: float
    in_calls_ns: float
    lasts_ns: float
    """From the beginning of its first call to the end of its last."""
    first: int
    """Symbol of the first call."""
    last: int


def rule_costs(learnt: Learnt) -> dict[int, Cost]:
    """By the numbers of the rules."""
    costs: dict[int, Cost] = {}
    for number in _parts_first(learnt):
        costs[number] = _sum(learnt, learnt.rule[number].body, costs)
    return costs


def run_cost(learnt: Learnt, run: Run, costs: dict[int, Cost]) -> Cost:
    """Of one time; the exponent does not count."""
    return costs[run.number] if run.rule else _of_symbol(learnt.symbol[run.number])


def gap_ns(learnt: Learnt, before: int, after: int) -> float:
    """Mean time between two calls; 0 when nothing is known of it."""
    way = learnt.transition.get((before, after))
    return 0.0 if way is None or way.gap_ns is None else way.gap_ns.mean


def pause_text(learnt: Learnt, before: int, after: int) -> str:
    """The mean time between two calls where it separates phases; otherwise nothing."""
    gap = gap_ns(learnt, before, after)
    return seconds(gap / 1e9) if learnt.phases is not None and gap > learnt.phases.pause_ns else ""


def _of_symbol(symbol: Symbol) -> Cost:
    size = symbol.bytes.mean if symbol.bytes else 0.0
    duration = symbol.duration_ns.mean if symbol.duration_ns else 0.0
    return Cost(1, size, duration, duration, symbol.number, symbol.number)


def _sum(learnt: Learnt, body: tuple[Run, ...], costs: dict[int, Cost]) -> Cost:
    calls, size, in_calls, lasts = 0.0, 0.0, 0.0, 0.0
    first = last = 0
    for place, run in enumerate(body):
        one, times = run_cost(learnt, run, costs), run.exponent
        if place == 0:
            first = one.first
        else:
            lasts += gap_ns(learnt, last, one.first)
        lasts += times * one.lasts_ns + (times - 1) * gap_ns(learnt, one.last, one.first)
        calls += times * one.calls
        size += times * one.bytes
        in_calls += times * one.in_calls_ns
        last = one.last
    return Cost(calls, size, in_calls, lasts, first, last)


def _parts_first(learnt: Learnt) -> list[int]:
    """Every rule after those that it is made of; rules may be nested deeper than Python calls functions."""
    order: list[int] = []
    known: set[int] = set()
    to_come = [(START, False)]
    while to_come:
        number, parts_known = to_come.pop()
        if parts_known:
            order.append(number)
        elif number not in known:
            known.add(number)
            to_come.append((number, True))
            to_come.extend((run.number, False) for run in learnt.rule[number].body if run.rule)
    return order
