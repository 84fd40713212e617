"""Premises of a pair of a study: whether its data says anything about the question that the study asks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from delta_studies import LEAST_LARGER_S, MOST_LARGER_S, Pair, Study
from writers import bandwidth

from halcyon.delta.data_file import Content, Dataclass
from halcyon.delta.graph import Graph, Measured
from halcyon.delta.measuring import MOST_NOT_COUNTED, of_key, problems_of
from halcyon.delta.printed import lacking
from halcyon.delta.runs import Key, Run, Setup
from halcyon.delta.turns import UNCOORDINATED
from halcyon.testbed.check import LEAST_LINK_SHARE
from halcyon.testbed.place import MOUNTS
from halcyon.testbed.plan import Plan


def setup_of(study: Study, pair: Pair, smaller: float = 1.0) -> Setup:
    """What is measured of a pair, with so many times less data."""
    a, b = study.applications(pair, smaller)
    return Setup(
        a.command, b.command, str(MOUNTS), a.arrive, b.arrive, placed=(*a.placed, *b.placed), metric=study.metric,
        bandwidth=bandwidth(study.plan),
    )  # fmt: skip


def other_measurement(content: Content, study: Study, pair: Pair) -> list[str]:
    """Why a file is not of this pair as the table has it today, such as one of a trial with less data."""
    return other_setup(content.setup, content.bed, setup_of(study, pair), study.plan)


def other_setup(was: Dataclass, bed: Mapping[str, Any] | None, expected: Dataclass, plan: Plan) -> list[str]:
    """Likewise of any study, by what is measured, and on which bed."""
    differ = [one.name for one in fields(expected) if getattr(was, one.name) != getattr(expected, one.name)]
    differ += _differing_bed(bed, asdict(plan))
    return [f"its file is of another measurement than the table of studies: {', '.join(differ)}"] if differ else []


def failed_premises(graph: Graph, study: Study, pair: Pair, runs: Sequence[Run]) -> list[str]:
    """Why the figures say nothing of what the study asks; empty: nothing speaks against them. Single points whose
    intervals are wide do not: their own figures are not met."""
    return [
        *failed_scenario(graph, study, pair),
        *too_many_not_counted(dict.fromkeys(run.key for run in runs), runs),
        *several_builds(runs),
        *(line.removeprefix("* ").removeprefix("not met: ") for line in lacking(graph)),
    ]


def too_wide(point: Measured, half_width: float) -> str:
    """Why a point is not met although it has enough runs."""
    if point.runs == 1:
        return "a single run, which has no interval"
    widest = max(point.a_s.relative, point.b_s.relative)
    return f"an interval of ± {widest:.1%} after {point.runs} runs, above ± {half_width:.0%}"


def failed_scenario(graph: Graph, study: Study, pair: Pair) -> list[str]:
    """Of these, those about the storage and the applications: not about how well points are known."""
    said = []
    larger_s = max(graph.a_alone.mean, graph.b_alone.mean)
    if not LEAST_LARGER_S <= larger_s <= MOST_LARGER_S:
        said.append(
            f"the larger application is in I/O for {larger_s:.2f} s, not {LEAST_LARGER_S:g} to {MOST_LARGER_S:g}"
        )
    at_0 = next((point for point in graph.of("none") if point.dt_ns == 0), None)
    if at_0 is None:
        return [*said, "no uncoordinated run at a delay of 0 counts"]
    for who, factor, (least, most) in zip("AB", (at_0.a_factor, at_0.b_factor), pair.factors, strict=True):
        if not least <= factor.mean <= most:
            said.append(
                f"{who} is slowed down by a factor of {factor.mean:.2f} at a delay of 0, not {least:g} to {most:g}"
            )
    if study.bites and (at_0.link_share is None or at_0.link_share < LEAST_LINK_SHARE):
        said.append(
            f"storage links carry {at_0.link_share} of their rate while both are in I/O, not {LEAST_LINK_SHARE:g}"
        )
    return said


def too_many_not_counted(keys: Iterable[Key], runs: Sequence[Run]) -> list[str]:
    """A line for each of these points of which more than a quarter of the runs do not count."""
    said = []
    for key in keys:
        out, counted = len(problems_of(key, runs)), len(of_key(key, runs))
        if out > MOST_NOT_COUNTED * (out + counted):
            said.append(f"{key.text}: {out} of {out + counted} runs do not count, above {MOST_NOT_COUNTED:.0%}")
    return said


def several_builds(runs: Sequence[Run]) -> list[str]:
    """Why runs under a coordinator are no repetitions of one another; empty: they are."""
    builds = {run.programs for run in runs if run.problem is None and run.key.policy != UNCOORDINATED}
    if len(builds) < 2:
        return []
    return [f"its coordinated runs are of {len(builds)} builds of Halcyon; measure one build, with --data elsewhere"]


def _differing_bed(was: Mapping[str, Any] | None, now: Mapping[str, Any]) -> list[str]:
    if was is None:
        return ["bed"]
    # A file has lists where a plan has tuples.
    return [f"bed.{key}" for key, value in now.items() if _plain(was.get(key)) != _plain(value)]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
