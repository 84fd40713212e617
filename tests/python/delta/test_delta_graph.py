"""What a measured Δ-graph says, by runs whose answer is known."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from measured_runs import alone, both

from halcyon.delta.estimate import Estimate, estimate
from halcyon.delta.graph import Applications, Graph, graph_of
from halcyon.delta.picture import draw_graph, drawn, look_of
from halcyon.delta.printed import as_dict, expected_at, lacking, not_met, print_graph
from halcyon.delta.runs import Key, Run
from halcyon.delta.turns import UNCOORDINATED, policies
from halcyon.errors import UsageError
from halcyon.policy.functions import rule_names
from halcyon.printed.tables import console_for_tables

ALONE = [alone("A", 4.0), alone("A", 4.0), alone("B", 2.0), alone("B", 2.0)]


def twice(key: Key, a_s: float, b_s: float) -> list[Run]:
    return [both(key, a_s, b_s), both(key, a_s, b_s)]


@pytest.fixture
def graph() -> Graph:
    at_0, at_1 = 0, 10**9
    return graph_of(
        [
            *ALONE, *twice(Key("none", at_0), 6.0, 4.0), *twice(Key("fcfs", at_0), 4.0, 6.0),
            *twice(Key("interrupt", at_0), 6.0, 2.0), *twice(Key("none", at_1), 6.0, 4.0),
            *twice(Key("fcfs", at_1), 4.0, 5.0), both(Key("none", at_1), 99.0, 99.0, "late"),
        ],
        Applications(a_cores=10, b_cores=1),
    )  # fmt: skip


def test_factors_are_times_over_times_alone(graph: Graph) -> None:
    fcfs = graph.of("fcfs")[0]
    assert (fcfs.a_factor.mean, fcfs.b_factor.mean, fcfs.factors.mean) == (1.0, 3.0, 4.0)
    assert fcfs.core_seconds.mean == 10 * 4.0 + 6.0
    assert fcfs.link_share == 0.95


def test_sums_are_as_uncertain_as_those_of_single_runs() -> None:
    """In each run, one gains the time that the other loses."""
    swaps = [both(Key(), 4.0 + x, 4.0 - x) for x in (0.5, -0.5, 0.1, -0.1)]
    alike = [alone(name, 2.0) for name in "ABAB"]
    point = graph_of([*alike, *swaps], Applications(a_cores=3, b_cores=3)).points[0]
    assert point.a_s.half is not None
    assert point.a_s.half > 0.1
    assert point.factors == Estimate(pytest.approx(4.0), pytest.approx(0.0), 2)
    assert point.core_seconds == Estimate(pytest.approx(24.0), pytest.approx(0.0), 4)
    together = [both(Key(), 4.0 + x, 4.0 + x) for x in (0.5, -0.5, 0.1, -0.1)]
    worse = graph_of([*alike, *together], Applications(a_cores=3, b_cores=3)).points[0]
    assert worse.core_seconds.half == pytest.approx(6 * point.a_s.half)
    assert worse.factors.half == pytest.approx(point.a_s.half)


def test_the_errors_of_times_alone_are_in_the_sum_of_factors() -> None:
    unsteady = [alone("A", 2.0), alone("A", 2.2), alone("B", 2.0), alone("B", 2.0)]
    point = graph_of([*unsteady, *twice(Key(), 4.2, 4.0)], Applications()).points[0]
    assert point.factors.mean == pytest.approx(2.0 + 2.0)
    assert point.factors.half == pytest.approx(2.0 * estimate([2.0, 2.2]).relative)
    assert point.a_factor.half == pytest.approx(point.factors.half)
    once = graph_of([*unsteady[1:], *twice(Key(), 4.2, 4.0)], Applications()).points[0]
    assert once.factors.half is None


def test_runs_that_do_not_count_are_left_out_and_told(graph: Graph) -> None:
    assert graph.of("none")[1].a_s == Estimate(6.0, 0.0, 2)
    assert graph.left_out == {"late": 1}


def test_the_best_policies_are_those_with_the_least(graph: Graph) -> None:
    first, second = graph.best
    assert (first.factors, first.core_seconds) == (["interrupt"], ["fcfs"])
    assert (second.factors, second.core_seconds) == (["none", "fcfs"], ["fcfs"])


def test_expected_are_the_formulas_of_the_model(graph: Graph) -> None:
    expected = expected_at(graph, graph.of("fcfs")[1])
    assert expected is not None
    assert (expected.a_s, expected.b_s) == (4.0, 5.0)
    # Ten cores against one share the storage ten to one.
    shared = expected_at(graph, graph.of("none")[0])
    assert shared is not None
    assert shared.a_s == pytest.approx(4.4)


def test_a_point_without_an_interval_is_not_met() -> None:
    graph = graph_of([*ALONE, both(Key(), 5.0, 3.0)], Applications())
    assert graph.points[0].a_s.half is None
    assert not graph.points[0].met
    assert not graph.met


def test_a_policy_without_a_run_that_counts_is_not_met_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    fcfs = [both(Key("fcfs"), 4.0, 6.0, why) for why in ("busy", "late")]
    graph = graph_of([*ALONE, *twice(Key(), 6.0, 4.0), *fcfs], Applications())
    assert all(point.met for point in graph.points)
    assert [(one.policy, one.problems) for one in graph.unmeasured] == [("fcfs", ["busy", "late"])]
    assert not graph.met
    print_graph(graph, console_for_tables())
    assert "not met: fcfs, B starts 0 s: none of 2 runs counts; the last one: late" in capsys.readouterr().out


def test_a_point_that_was_wanted_and_never_run_is_not_met() -> None:
    wanted = [Key(), Key("fcfs", 10**9)]
    graph = graph_of([*ALONE, *twice(Key(), 6.0, 4.0)], Applications(), wanted=wanted)
    assert not graph.met
    assert not_met(graph) == ["not met: fcfs, B starts +1.00 s: no run was made; the same command line goes on"]
    assert graph_of([*ALONE, *twice(Key(), 6.0, 4.0)], Applications(), wanted=wanted[:1]).met


def test_a_point_with_fewer_runs_than_wanted_is_not_met() -> None:
    runs = [*ALONE, alone("A", 4.0), *twice(Key(), 6.0, 4.0)]
    graph = graph_of(runs, Applications(), repeat=3)
    assert not graph.points[0].met
    assert not_met(graph) == [
        "* not met: none, B starts 0 s: 2 runs of 3 (--repeat)",
        "not met: B alone: 2 runs of 3 (--repeat)",
    ]
    assert not graph_of([*runs, both(Key(), 6.0, 4.0)], Applications(), repeat=3).met


def test_a_point_with_a_wide_interval_is_one_that_lacks_no_run() -> None:
    graph = graph_of([*ALONE, *twice(Key(), 6.0, 4.0), both(Key("fcfs"), 4.0, 6.0), both(Key("fcfs"), 5.0, 6.0)],
                     Applications())  # fmt: skip
    assert [point.policy for point in graph.wide] == ["fcfs"]
    assert lacking(graph) == []
    (why,) = not_met(graph)
    assert "1 point of 2 with too wide an interval" in why


def test_a_time_alone_that_is_not_known_well_enough_is_named() -> None:
    unsteady = [alone("A", 4.0), alone("A", 5.0), *ALONE[2:]]
    assert not_met(graph_of([*unsteady, *twice(Key(), 6.0, 4.0)], Applications())) == [
        "not met: A alone: an interval of ± 141 %, above ± 5 % (--half-width)"
    ]


def test_a_single_run_alone_is_said_to_have_no_interval() -> None:
    graph = graph_of([ALONE[0], *ALONE[2:], *twice(Key(), 6.0, 4.0)], Applications())
    assert not_met(graph) == ["not met: A alone: a single run, which has no interval; wanted ± 5 % (--half-width)"]


def test_policies_of_which_none_is_better_are_all_the_best(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [*ALONE, *twice(Key(), 4.0, 4.0), *twice(Key("fcfs"), 4.0, 4.0)]
    print_graph(graph_of(runs, Applications()), console_for_tables())
    [row] = [line for line in capsys.readouterr().out.splitlines() if line.split()[-2:] == ["all", "all"]]
    assert row.split()[:2] == ["0", "s"]


def test_many_reasons_are_counted_together_but_the_most_frequent(capsys: pytest.CaptureFixture[str]) -> None:
    late = [both(Key("fcfs"), 1.0, 1.0, f"{i} s late") for i in range(6)]
    runs = [*ALONE, *twice(Key(), 6.0, 4.0), *late, *[both(Key(), 1.0, 1.0, "not held")] * 2]
    print_graph(graph_of(runs, Applications()), console_for_tables())
    said = capsys.readouterr().out
    assert "\n2 runs do not count: not held\n1 run does not count: 0 s late\n" in said
    assert "\n2 more runs do not count; --json says why\n" in said
    assert "5 s late" not in said.partition("not met")[0]


def test_runs_of_several_builds_or_boots_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    now = [replace(run, programs="0123456789ab", boot="89abcdef") for run in (*ALONE, *twice(Key(), 4.0, 4.0))]
    print_graph(graph_of(now, Applications()), console_for_tables())
    assert "builds" not in (said := capsys.readouterr().out)
    assert "boots" not in said
    other = replace(both(Key(), 4.0, 4.0), programs="ba9876543210", boot="89abcdef")
    print_graph(graph_of([*now, other], Applications()), console_for_tables())
    said = capsys.readouterr().out
    assert "\nruns are of 2 builds of the programs (0123456789ab, ba9876543210): times may differ by that\n" in said
    old = both(Key(), 4.0, 4.0)
    print_graph(graph_of([*now, other, old], Applications()), console_for_tables())
    assert (
        "\nruns are of 3 builds of the programs (0123456789ab, ba9876543210, not known) and of 2 boots of the machine "
        "(89abcdef, not known): times may differ by that\n"
    ) in capsys.readouterr().out
    print_graph(graph_of([*now, replace(other, problem="late")], Applications()), console_for_tables())
    assert "builds" not in capsys.readouterr().out


def test_without_runs_alone_there_are_no_factors() -> None:
    with pytest.raises(UsageError, match=r"no run of B alone counts, .*; the last one of 1 does not: late"):
        graph_of([alone("A", 1.0), alone("B", 1.0, "late"), both(Key(), 2.0, 2.0)], Applications())
    with pytest.raises(UsageError, match="no run of both commands counts"):
        graph_of(ALONE, Applications())


def test_time_that_is_no_transfer_is_waiting_as_far_as_a_thread_waited() -> None:
    run = both(Key("fcfs"), 4.0, 6.0)
    assert run.b is not None
    waited = replace(run, b=replace(run.b, transfer_s=2.0, waited_s=3.0))
    drawn = replace(run, b=replace(run.b, transfer_s=4.0, waited_s=5.0))
    parts = graph_of([*ALONE, waited, drawn], Applications()).points[0].b_parts
    assert (parts.transfer_s, parts.waiting_s, parts.rest_s) == (3.0, 2.5, 0.5)


def test_intervals_are_students() -> None:
    # Three values 1, 2, 3: t of 2 degrees of freedom, two-sided 95 %, is 4.303.
    found = estimate([1.0, 2.0, 3.0])
    assert found.half == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
    assert estimate([1.0, 2.0, 3.0], 0.8).half == pytest.approx(1.886 / math.sqrt(3), rel=1e-3)


def test_a_ratio_is_as_uncertain_as_both_its_parts() -> None:
    ratio = Estimate(6.0, 0.6, 3).over(Estimate(2.0, 0.2, 5))
    assert (ratio.mean, ratio.count) == (3.0, 3)
    assert ratio.half == pytest.approx(3.0 * math.hypot(0.1, 0.1))
    assert Estimate(6.0, None, 1).over(Estimate(2.0, 0.2, 5)).half is None


def test_text_names_policies_delays_and_what_is_left_out(graph: Graph, capsys: pytest.CaptureFixture[str]) -> None:
    print_graph(graph, console_for_tables())
    said = capsys.readouterr().out
    assert "A alone: 4.00 s ± 0 s in I/O, 10 cores, 2 runs" in said
    rows = [line.split() for line in said.splitlines()]
    of_fcfs = next(row for row in rows if row[:2] == ["fcfs", "+1.00"])
    assert of_fcfs[3:8] == ["1.00", "±", "0.00", "1.00", "2.50"]
    assert "1 run does not count: late" in said
    assert as_dict(graph)["best"][0]["factors"] == ["interrupt"]


def test_every_policy_of_the_coordinator_is_drawn_in_a_look_of_its_own(tmp_path: Path) -> None:
    names = policies()
    assert names[0] == UNCOORDINATED
    assert set(names[1:]) == set(rule_names())
    assert len({(look.colour, look.mark) for look in map(look_of, names)}) == len(names)
    graph = graph_of([*ALONE, *(run for name in names for run in twice(Key(name), 5.0, 4.0))], Applications())
    assert graph.policies == list(names)
    draw_graph(graph, tmp_path / "all.svg")


def test_the_names_of_policies_lie_outside_of_the_panels_of_sums(graph: Graph) -> None:
    panels = {axes.get_title(): axes.get_legend() for axes in drawn(graph).axes}
    assert panels["sum of interference factors"] is None
    assert panels["core seconds of both in I/O"] is None
    key = panels[""]
    assert key is not None
    assert [text.get_text() for text in key.get_texts()] == ["uncoordinated", "fcfs", "interrupt"]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures_are_the_same_for_the_same_runs(graph: Graph, tmp_path: Path, ending: str) -> None:
    first, again = (tmp_path / f"{name}.{ending}" for name in ("first", "again"))
    draw_graph(graph, first)
    draw_graph(graph, again)
    assert first.read_bytes() == again.read_bytes()
    assert len(first.read_bytes()) > 10_000
