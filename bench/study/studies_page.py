"""Prints the page of measured Δ-graphs, for the documentation: made from the data that studies keep in
bench/study/delta."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import policy_ratios
import saw
from cache_lost import PLAN, QUESTION, cache_lost
from cache_writers import cache_setup
from delta_studies import STUDIES, Pair, Study, stem
from many_premises import failed_premises as failed_premises_of_case
from many_studies import CASES, Case
from premises import failed_premises, other_measurement, other_setup, too_wide
from several import Point, alone
from several import Run as RunOfSeveral
from several import points as points_of_several
from several import read as read_several

from halcyon.delta.data_file import read
from halcyon.delta.estimate import Estimate
from halcyon.delta.graph import Graph, Measured
from halcyon.delta.printed import with_interval
from halcyon.delta.runs import Run
from halcyon.delta.turns import policies
from halcyon.errors import HalcyonError

DATA = Path(__file__).resolve().parent / "delta"
HEAD = """# Δ-graphs of the studies

Made from the data in `bench/study/delta/`. [The table of studies](delta.md#studies) says what each one measures, and
`make study-delta-…` measures it again. Times alone and sums have half the width of their confidence interval beside
them. Sums are of interference factors, or of core seconds where the study minimises these; the least one of each row
is bold.
"""


def main() -> None:
    sections = [*_of_pairs(), *_of_cases(), *_of_cache()]
    print(HEAD + "\n".join(sections))


def _section(file: Path, question: str, study: str, found: Callable[[], str]) -> str:
    """Of a study that is under way, what it lacks."""
    try:
        text = found() if file.exists() else f"*Not measured: `make study-delta-{study}`.*\n"
    except HalcyonError as why:
        text = _not_met([str(why)])
    return f"\n## {file.stem}\n\n{question[0].upper()}{question[1:]}.\n\n{text}"


def _not_met(reasons: list[str]) -> str:
    return f"*Not met: {'; '.join(reasons)}.*\n\n" if reasons else ""


def _of_pairs() -> Iterator[str]:
    for study_name, study in STUDIES.items():
        for name, pair in study.pairs.items():
            file = DATA / f"{stem(study_name, name)}.jsonl"
            yield _section(file, study.question, study_name, lambda at=(file, study, pair): _of_pair(*at))


def _of_pair(file: Path, study: Study, pair: Pair) -> str:
    content = read(file)
    runs = content.runs
    graph = study.graph(*study.applications(pair), runs)
    premises = [*other_measurement(content, study, pair), *failed_premises(graph, study, pair, runs)]
    wide = [
        f"{one.policy} at {one.dt_ns / 1e9 / graph.a_alone.mean:+.2f} T_A has {too_wide(one, graph.half_width)}"
        for one in graph.wide
    ]
    times = (
        f"Alone, A is in I/O for {with_interval(graph.a_alone)} s on {graph.a_cores:.0f} cores, B for "
        f"{with_interval(graph.b_alone)} s on {graph.b_cores:.0f}; {len(runs)} runs, of which "
        f"{sum(graph.left_out.values())} do not count. {_made(runs)}\n\n"
    )
    table = _table(graph, "core_seconds" if study.metric == "cpu-hours" else "factors")
    claims = _claims(graph, study, hold=not premises)
    return times + _not_met([*premises, *wide]) + claims + _picture(file) + table


def _claims(graph: Graph, study: Study, *, hold: bool) -> str:
    """What becomes of those of the thesis. `hold`: the premises do, without which data says nothing of them."""
    said = [saw.verdict(graph, study.saw)] if study.saw else []
    said += [policy_ratios.verdict(graph, policy, other) for policy, other in study.over]
    if said and not hold:
        said = ["Whether the claims of the thesis hold is not told, since a premise fails."]
    return "".join(f"{one}\n\n" for one in said)


def _table(graph: Graph, what: str) -> str:
    at: dict[int, dict[str, Measured]] = {}
    for point in graph.points:
        at.setdefault(point.dt_ns, {})[point.policy] = point
    lines = [_row(["B starts at", *graph.policies]), _row(["---:"] * (1 + len(graph.policies)))]
    for dt_ns, points in sorted(at.items()):
        values = {name: getattr(point, what) for name, point in points.items()}
        lines.append(_row([f"{dt_ns / 1e9 / graph.a_alone.mean:+.2f} T_A", *_cells(values, graph.policies)]))
    return "\n".join(lines) + "\n"


def _of_cases() -> Iterator[str]:
    for name, case in CASES.items():
        file = DATA / f"many-{name}.jsonl"
        yield _section(file, case.question, "many", lambda at=(file, case): _of_case(*at))


def _of_case(file: Path, case: Case) -> str:
    content = read_several(file)
    setup, runs = content.setup, content.runs
    points = points_of_several(setup, runs)
    largest_s = alone(setup, runs)[setup.commands[0].name].mean
    lacking = len(case.keys(largest_s)) - sum(point.runs >= case.repeat for point in points)
    failed = other_setup(setup, content.bed, case.setup(), case.plan)
    failed += failed_premises_of_case(points, runs, largest_s, lacking)
    failed += [f"{one.key.text}: too wide an interval after {one.runs} runs" for one in points if not one.met]
    by_starts: dict[tuple[int, ...], dict[str, Point]] = {}
    for point in points:
        by_starts.setdefault(point.key.starts_ns, {})[point.key.policy] = point
    found = {name for points in by_starts.values() for name in points}
    names = [name for name in policies() if name in found]
    lines = [_row(["starts, s", *names]), _row(["---:"] * (1 + len(names)))]
    for starts_ns, at in sorted(by_starts.items()):
        values = {name: point.sum_of_factors for name, point in at.items()}
        lines.append(_row([", ".join(f"{one / 1e9:.1f}" for one in starts_ns), *_cells(values, names)]))
    return f"{len(runs)} runs. {_made(runs)}\n\n" + _not_met(failed) + _picture(file) + "\n".join(lines) + "\n"


def _of_cache() -> Iterator[str]:
    file = DATA / "cache.jsonl"
    yield _section(file, QUESTION, "cache", lambda: _of_lost(file))


def _of_lost(file: Path) -> str:
    content = read(file)
    runs = content.runs
    found = cache_lost(runs)
    failed = other_setup(content.setup, content.bed, cache_setup(), PLAN)
    slower = f", at {found.lost_over_alone:.2f} of that rate in the median" if found.lost_over_alone is not None else ""
    return (
        f"{len(runs)} runs. {_made(runs)}\n\n{_not_met(failed)}"
        f"Alone, A's phases pass at {found.alone_over_link:.2f} times the link's rate, and {found.lost_alone:.1%} of "
        f"them lose the cache; beside B, {found.lost:.1%} do{slower}.\n\n{_picture(file)}"
    )


def _made(runs: Sequence[Run | RunOfSeveral]) -> str:
    """By which builds of Halcyon's programs, in the order of their first runs, and when."""
    builds = dict.fromkeys(run.programs for run in sorted(runs, key=lambda one: one.at_s))
    named = [f"build {one}" if one else "a build that nobody noted" for one in builds]
    first, last = (_day(of(run.at_s for run in runs)) for of in (min, max))
    when = f"on {first}" if first == last else f"from {first} to {last}"
    return f"Measured {when} (UTC) by {', '.join(named)}."


def _day(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).date().isoformat()


def _picture(file: Path) -> str:
    return f"![Δ-graph of {file.stem}](images/studies/{file.stem}.png)\n\n" if file.with_suffix(".png").exists() else ""


def _cells(values: dict[str, Estimate], names: list[str]) -> list[str]:
    least = min(one.mean for one in values.values())
    return [
        ""
        if (found := values.get(name)) is None
        else f"**{with_interval(found)}**"
        if found.mean == least
        else with_interval(found)
        for name in names
    ]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
