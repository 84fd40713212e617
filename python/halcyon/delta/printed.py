"""A measured Δ-graph as text, and for machines."""

from dataclasses import asdict
from typing import Any

from rich.console import Console

from halcyon.delta.estimate import Estimate
from halcyon.delta.graph import Graph, Measured
from halcyon.delta.measuring import Progress
from halcyon.models.interference import Point
from halcyon.printed.tables import print_table
from halcyon.quantities import ABSENT, number, percent, plural, seconds, time_unit


def print_graph(graph: Graph, console: Console) -> None:
    """Times alone, interference factors with intervals, the costs of policies, and what is not met."""
    for name, alone, cores in (("A", graph.a_alone, graph.a_cores), ("B", graph.b_alone, graph.b_cores)):
        console.print(
            f"{name} alone: {_time(alone)} in I/O, {plural(round(cores), 'core')}, {plural(alone.count, 'run')}",
            soft_wrap=True,
        )
    _print_factors(graph, console)
    _print_parts(graph, console)
    if len(graph.policies) > 1:
        _print_costs(graph, console)
    _print_remarks(graph, console)


def as_dict(graph: Graph) -> dict[str, Any]:
    """For machines, in SI units."""
    return asdict(graph) | {"best": [asdict(one) for one in graph.best]}


def _print_factors(graph: Graph, console: Console) -> None:
    columns = ["policy", "B starts", "A", "expected", "B", "expected", "sum", "runs", "links"]
    rows = [
        [
            point.policy, delay(point.dt_ns), with_interval(point.a_factor), _expected(graph, point, "a_factor"),
            with_interval(point.b_factor), _expected(graph, point, "b_factor"), with_interval(point.factors),
            f"{point.runs}{'' if point.met else ' *'}",
            ABSENT if point.link_share is None else percent(point.link_share),
        ]
        for point in graph.points
    ]  # fmt: skip
    print_table(
        console, "Interference factors", columns, rows, words=1, most=len(rows),
        note="time in I/O over the time alone, with half the width of the confidence interval; expected by the model",
    )  # fmt: skip


def _print_parts(graph: Graph, console: Console) -> None:
    unit = time_unit(one.mean for point in graph.points for one in (point.a_s, point.b_s))
    columns = ["policy", "B starts", *(f"{who} {part}" for who in "AB" for part in ("transfers", "waits", "rest"))]
    rows = [
        [
            point.policy, delay(point.dt_ns),
            *(number(value / unit.size) for parts in (point.a_parts, point.b_parts)
              for value in (parts.transfer_s, parts.waiting_s, parts.rest_s)),
        ]
        for point in graph.points
    ]  # fmt: skip
    print_table(
        console, f"Where the time in I/O went, in {unit.name}", columns, rows, words=1, most=len(rows),
        note="at least one process transfers; none does, and waits for its turn; the rest: communication, opening "
        "files, and computing in pauses shorter than --pause",
    )  # fmt: skip


def _print_costs(graph: Graph, console: Console) -> None:
    at = {(point.policy, point.dt_ns): point for point in graph.points}
    columns = ["B starts", *graph.policies, "least core s", "least factors"]
    rows = [
        [
            delay(best.dt_ns),
            *(_value(found.core_seconds) if (found := at.get((name, best.dt_ns))) else ABSENT
              for name in graph.policies),
            _names(best.core_seconds, graph), _names(best.factors, graph),
        ]
        for best in graph.best
    ]  # fmt: skip
    print_table(
        console, "Core seconds of both in I/O", columns, rows, words=0, most=len(rows),
        note="the best policies: the least one, and those whose intervals reach it; all: none is better than another",
    )  # fmt: skip


_MOST_REASONS = 5
"""Why runs do not count; many reasons differ only in a number."""


def _print_remarks(graph: Graph, console: Console) -> None:
    if graph.phases > 1:
        console.print(
            f"\nup to {graph.phases} phases in one run: times are the sums of phases, each from its first to its last "
            "call",
            soft_wrap=True,
        )
    for lines in (_of_several(graph), _left_out(graph), not_met(graph)):
        if lines:
            console.print("\n" + "\n".join(lines), soft_wrap=True)


def _of_several(graph: Graph) -> list[str]:
    """One line where runs may differ by more than chance."""
    said = [
        f"of {len(found)} {what} ({', '.join([*filter(None, found), *(['not known'] if '' in found else [])])})"
        for found, what in ((graph.programs, "builds of the programs"), (graph.boots, "boots of the machine"))
        if len(found) > 1
    ]
    return [f"runs are {' and '.join(said)}: times may differ by that"] if said else []


def _left_out(graph: Graph) -> list[str]:
    reasons = sorted(graph.left_out.items(), key=lambda one: -one[1])
    said = [f"{plural(count, 'run does', 'runs do')} not count: {why}" for why, count in reasons[:_MOST_REASONS]]
    if more := sum(count for _, count in reasons[_MOST_REASONS:]):
        said.append(f"{plural(more, 'more run does', 'more runs do')} not count; --json says why")
    return said


def not_met(graph: Graph) -> list[str]:
    """A line for every reason why points are not known as well as wanted."""
    said = lacking(graph)
    if graph.wide:
        of_all = len(graph.points) + len(graph.unmeasured)
        said.append(
            f"* not met: {plural(len(graph.wide), 'point')} of {of_all} with too wide an interval (--half-width), or "
            "with a single run, which has none"
        )
    return said


def lacking(graph: Graph) -> list[str]:
    """Of these, all but those of single points with wide intervals."""
    said = [
        f"not met: {one.policy}, B starts {delay(one.dt_ns)}: {_nothing_counts(one.problems)}"
        for one in graph.unmeasured
    ]
    for point in graph.points:
        if point.runs < graph.repeat:
            where = f"{point.policy}, B starts {delay(point.dt_ns)}"
            said.append(f"* not met: {where}: {plural(point.runs, 'run')} of {graph.repeat} (--repeat)")
    for name, one in (("A", graph.a_alone), ("B", graph.b_alone)):
        if one.count < graph.repeat:
            said.append(f"not met: {name} alone: {plural(one.count, 'run')} of {graph.repeat} (--repeat)")
        elif one.relative > graph.half_width:
            wanted = f"± {percent(graph.half_width)} (--half-width)"
            why = (
                f"a single run, which has no interval; wanted {wanted}"
                if one.half is None
                else f"an interval of ± {percent(one.relative)}, above {wanted}"
            )
            said.append(f"not met: {name} alone: {why}")
    return said


def _nothing_counts(problems: list[str]) -> str:
    if not problems:
        return "no run was made; the same command line goes on"
    if len(problems) == 1:
        return f"its only run does not count: {problems[0]}"
    return f"none of {plural(len(problems), 'run')} counts; the last one: {problems[-1]}"


def delay(dt_ns: int) -> str:
    """`+1.50 s`, of B after A."""
    sign = "+" if dt_ns > 0 else "-" if dt_ns < 0 else ""
    return f"{sign}{seconds(abs(dt_ns) / 1e9)}"


def expected_at(graph: Graph, point: Measured) -> Point | None:
    """By the model, at the delay of a point; None: there is no model of its policy."""
    name = graph.expected_of(point.policy)
    if name is None:
        return None
    return next(one for one in graph.expected.curves[name] if one.delta_s == point.dt_ns / 1e9)


def _expected(graph: Graph, point: Measured, what: str) -> str:
    found = expected_at(graph, point)
    return ABSENT if found is None else f"{getattr(found, what):.2f}"


def with_interval(value: Estimate) -> str:
    """`1.98 ± 0.01`."""
    return f"{value.mean:.2f}" + ("" if value.half is None else f" ± {value.half:.2f}")


def _value(value: Estimate) -> str:
    return number(value.mean) + ("" if value.half is None else f" ± {number(value.half)}")


def _time(value: Estimate) -> str:
    return seconds(value.mean) + ("" if value.half is None else f" ± {seconds(value.half)}")


def _names(policies: list[str], graph: Graph) -> str:
    """All: none is better than another."""
    return "all" if len(policies) == len(graph.policies) else ", ".join(policies)


def run_in_words(told: Progress) -> str:
    """A run that has ended, and how many are left."""
    run = told.run
    if run.problem and not run.told:
        return f"{told.made} of {told.made + told.left}: {run.key.text}: failed: {run.problem}"
    times = [f"{name} {seconds(one.seconds)}" for name, one in run.told.items()]
    does_not_count = f"; does not count: {run.problem}" if run.problem else ""
    return f"{told.made} of {told.made + told.left}: {run.key.text}: {', '.join(times)}{does_not_count}"
