"""An expected Δ-graph as text."""

from rich.console import Console

from halcyon.models.interference import POLICIES, DeltaGraph, Phase, Point
from halcyon.printed.tables import print_table
from halcyon.quantities import ABSENT, number, percent, plural, seconds, time_unit


def print_delta(graph: DeltaGraph, console: Console) -> None:
    """Times with interference factors, core seconds, the best policies, and what eq. 6.5 says."""
    console.print(f"A: {_phase(graph.a)}", soft_wrap=True)
    console.print(f"B: {_phase(graph.b)}", soft_wrap=True)
    _print_times(graph, console)
    _print_costs(graph, console)
    console.print("\nto wait or to interrupt, by the fewer core seconds (eq. 6.5):", soft_wrap=True)
    for second, first, before_s, alone_s in (
        ("B", "A", graph.b_interrupts_before_s, graph.a.alone_s),
        ("A", "B", graph.a_interrupts_before_s, graph.b.alone_s),
    ):
        console.print(f"  {_bound(second, first, before_s, alone_s)}", soft_wrap=True)


def _phase(phase: Phase) -> str:
    return (
        f"{seconds(phase.alone_s)} alone, {plural(int(phase.cores), 'core')}, takes {percent(phase.demand)} of the "
        f"bandwidth alone, weight {phase.weight:,g}"
    )


def _print_times(graph: DeltaGraph, console: Console) -> None:
    points = [point for curve in graph.curves.values() for point in curve]
    unit = time_unit(value for point in points for value in (point.a_s, point.b_s))

    def cell(value_s: float, factor: float) -> str:
        return f"{number(value_s / unit.size)} ({factor:.2f})"

    columns = ["B starts", *(f"{who}, {name}" for name in POLICIES for who in "AB")]
    rows = [
        [
            _delay(at[0], graph),
            *(text for one in at for text in (cell(one.a_s, one.a_factor), cell(one.b_s, one.b_factor))),
        ]
        for at in zip(*graph.curves.values(), strict=True)
    ]
    note = "in brackets the interference factor: the time over the time alone"
    print_table(console, f"Time in I/O in {unit.name}", columns, rows, words=0, most=len(rows), note=note)


def _print_costs(graph: DeltaGraph, console: Console) -> None:
    columns = ["B starts", *POLICIES, "fewest core s", "least factors"]
    rows = [
        [
            _delay(at[0], graph),
            *(number(one.core_seconds) for one in at),
            _names(best.core_seconds),
            _names(best.factors),
        ]
        for at, best in zip(zip(*graph.curves.values(), strict=True), graph.best, strict=True)
    ]
    note = "of both in I/O (eq. 6.4); the policies with the fewest, and with the least sum of interference factors"
    print_table(console, "Core seconds", columns, rows, words=0, most=len(rows), note=note)


def _delay(point: Point, graph: DeltaGraph) -> str:
    """Of B, in the unit of the longer phase."""
    unit = time_unit([graph.a.alone_s, graph.b.alone_s])
    sign = "+" if point.delta_s > 0 else "-" if point.delta_s < 0 else ""
    return f"{sign}{number(abs(point.delta_s) / unit.size)} {unit.name}"


def _names(policies: list[str]) -> str:
    """An en dash where all are equal."""
    return ABSENT if len(policies) == len(POLICIES) else ", ".join(policies)


def _bound(second: str, first: str, before_s: float, alone_s: float) -> str:
    if not before_s:
        return f"{second}, after {first}, waits whenever it starts"
    share_of_time = percent(before_s / alone_s)
    return (
        f"{second}, after {first}, interrupts {first} where it starts less than {seconds(before_s)} after {first} "
        f"({share_of_time} of {first}'s time alone), else waits"
    )
