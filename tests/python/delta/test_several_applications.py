"""Runs of more than two applications: what is kept of them, what is computed of them, and three on a test bed. Times
are invented where no bed is raised."""

import itertools
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import several
from delta_studies import LEAST_LARGER_S, MOST_LARGER_S
from many_premises import failed_premises, link_share
from many_studies import CASES
from measured_runs import told
from several import Key, Run, Setup, SeveralFile, run_several

from halcyon.delta.commands import Command, OnBed
from halcyon.delta.forgiving import Forgiving
from halcyon.delta.runs import Limits
from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.testbed.bed import raised
from halcyon.testbed.place import MOUNTS
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PLAN = Plan(compute=3, storage=2, mounts=3, storage_link_bits_per_s=10**8)
S = 10**9


def setup(*names: str) -> Setup:
    commands = tuple(
        Command(name, ("sh", "-c", f'dd if=/dev/zero of="$TESTBED_MOUNT/{name}" bs=1M count=2 oflag=direct'), (host,))
        for name, host in zip(names, ("c1", "c2", "c3"), strict=False)
    )
    return Setup(commands, (1,) * len(names), tuple(float(i + 1) for i in range(len(names))), str(MOUNTS))


def run(key: Key, *seconds: float, problem: str | None = None) -> Run:
    names = [key.alone] if key.alone else ["A", "B", "C"]
    return Run(key, {name: told(one) for name, one in zip(names, seconds, strict=True)}, 0.95, problem, 1.0, 2.0)


def plain(plan: Plan) -> dict[str, object]:
    """As JSON has it."""
    found: dict[str, object] = json.loads(json.dumps(asdict(plan)))
    return found


ALONE = [run(Key(alone=name), seconds) for name, seconds in (("A", 4.0), ("B", 2.0), ("C", 1.0)) for _ in range(2)]
TOGETHER = Key("fcfs", (0, S, 2 * S))


def test_what_was_written_comes_back_and_the_file_goes_on(tmp_path: Path) -> None:
    runs = [*ALONE, run(TOGETHER, 4.0, 5.0, 5.0, problem="late")]
    with SeveralFile(tmp_path / "many.jsonl", setup("A", "B", "C"), asdict(PLAN)) as file:
        for one in runs:
            file.add(one)
    assert several.read(tmp_path / "many.jsonl") == several.Content(setup("A", "B", "C"), plain(PLAN), runs)
    with SeveralFile(tmp_path / "many.jsonl", setup("A", "B", "C"), asdict(PLAN)) as file:
        assert file.runs == runs
    with pytest.raises(UsageError, match="another measurement: commands was"):
        SeveralFile(tmp_path / "many.jsonl", setup("A", "B"), asdict(PLAN))


def test_a_failed_run_is_kept_as_one_that_does_not_count(tmp_path: Path) -> None:
    def fails() -> Run:
        raise HalcyonSystemError("C failed")

    with SeveralFile(tmp_path / "many.jsonl", setup("A", "B", "C"), asdict(PLAN)) as file:
        forgiving = Forgiving(file, 1)
        for once in (fails, lambda: run(TOGETHER, 4.0, 5.0, 5.0), fails):
            forgiving.add(once, lambda failed: Run(TOGETHER, {}, None, failed.why, failed.at_s, failed.wall_s))
        with pytest.raises(HalcyonSystemError, match="C failed"):
            forgiving.add(fails, lambda failed: Run(TOGETHER, {}, None, failed.why, failed.at_s, failed.wall_s))
    runs = several.read(tmp_path / "many.jsonl").runs
    assert [one.problem for one in runs] == ["C failed", None, "C failed"]
    assert several.points(setup("A", "B", "C"), [*ALONE, *runs])[0].runs == 1


def test_sums_are_over_all_applications_by_their_times_alone_and_cores() -> None:
    runs = [*ALONE, *[run(TOGETHER, 4.0, 5.0, 5.0)] * 2, run(TOGETHER, 9.0, 9.0, 9.0, problem="late")]
    (point,) = several.points(setup("A", "B", "C"), runs)
    assert (point.key, point.runs, point.met) == (TOGETHER, 2, True)
    assert {name: one.mean for name, one in point.factors.items()} == {"A": 1.0, "B": 2.5, "C": 5.0}
    assert point.sum_of_factors.mean == pytest.approx(8.5)
    assert point.core_seconds.mean == pytest.approx(1 * 4 + 2 * 5 + 3 * 5)


def test_sums_are_as_uncertain_as_those_of_single_runs() -> None:
    swaps = [run(TOGETHER, 4.0 + 4 * x, 5.0 - 2 * x, 5.0) for x in (0.2, -0.2, 0.1)]
    (point,) = several.points(setup("A", "B", "C"), [*ALONE, *swaps])
    assert point.sum_of_factors.half == pytest.approx(0.0, abs=1e-9)
    assert point.core_seconds.half == pytest.approx(0.0, abs=1e-9)


def test_a_file_from_before_programs_were_noted_is_read(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    with SeveralFile(path, setup("A", "B", "C"), asdict(PLAN)) as file:
        file.add(ALONE[0])
    path.write_text(path.read_text().replace(', "programs": "", "boot": ""', ""))
    assert "boot" not in path.read_text()
    assert several.read(path).runs == ALONE[:1]


def test_a_point_with_a_wide_interval_of_any_application_is_not_met() -> None:
    runs = [*ALONE, run(TOGETHER, 4.0, 5.0, 5.0), run(TOGETHER, 4.0, 5.0, 6.0)]
    (point,) = several.points(setup("A", "B", "C"), runs)
    assert not point.met


def test_without_a_run_alone_of_each_it_is_said_whose_is_missing() -> None:
    runs = [one for one in ALONE if one.key.alone == "A"] + [run(TOGETHER, 4.0, 5.0, 5.0)]
    with pytest.raises(UsageError, match="no run of B, C alone counts"):
        several.points(setup("A", "B", "C"), runs)


def test_links_are_those_of_the_median_run_in_which_all_start_together() -> None:
    at_once, apart = Key("none", (0, 0, 0)), Key("none", (0, S, 2 * S))
    runs = [*ALONE, *(replace(run(at_once, 4.0, 5.0, 5.0), link_share=share) for share in (0.5, 0.6, 0.99))]
    runs += [replace(run(apart, 4.0, 5.0, 5.0), link_share=0.99)] * 3
    found = several.points(setup("A", "B", "C"), runs)
    assert link_share(found, runs) == 0.6
    (why,) = failed_premises(found, runs, 8.0, 0)
    assert why == "storage links carry 0.60 of their rate while all are in I/O, uncoordinated, not 0.9"
    assert link_share([], runs) is None


def test_a_point_of_which_more_than_a_quarter_of_the_runs_do_not_count_fails_the_premises() -> None:
    counted = [replace(run(Key("none", (0, 0, 0)), 4.0, 5.0, 5.0), link_share=0.95)] * 3
    late = replace(counted[0], problem="late")
    found = several.points(setup("A", "B", "C"), [*ALONE, *counted])
    assert failed_premises(found, [*ALONE, *counted, late], 8.0, 0) == []
    (why,) = failed_premises(found, [*ALONE, *counted, late, late], 8.0, 0)
    assert why == "none, starts at 0.00, 0.00, 0.00 s: 2 of 5 runs do not count, above 25%"


@pytest.mark.parametrize("too_short", [True, False])
def test_the_largest_is_in_io_for_as_long_as_the_larger_one_of_two(too_short: bool) -> None:
    counted = [replace(run(Key("none", (0, 0, 0)), 4.0, 5.0, 5.0), link_share=0.95)] * 3
    runs = [*ALONE, *counted]
    bound_s, beyond_s = (LEAST_LARGER_S, -0.01) if too_short else (MOST_LARGER_S, 0.01)
    assert failed_premises(several.points(setup("A", "B", "C"), runs), runs, bound_s, 0) == []
    (why,) = failed_premises(several.points(setup("A", "B", "C"), runs), runs, bound_s + beyond_s, 0)
    assert why.startswith(f"the largest application is in I/O for {bound_s + beyond_s:.2f} s")


@pytest.mark.parametrize("name", CASES)
def test_points_of_a_study_are_distinct_and_nobody_starts_before_the_first(name: str) -> None:
    case = CASES[name]
    keys = case.keys(5.4)
    assert len(set(keys)) == len(keys)
    assert all(min(key.starts_ns) == 0 and len(key.starts_ns) == len(case.writers) for key in keys)
    assert {key.policy for key in keys} >= {"none", "dynamic", "set-10"}


def begins_apart(run: Run) -> list[float]:
    """From each application to the next one."""
    begins = [told.begin_ns for told in run.told.values()]
    return [after - before for before, after in itertools.pairwise(begins)]


@pytest.mark.skipif(bool(unavailable(PLAN)), reason=unavailable(PLAN))
def test_three_on_a_bed_start_at_their_times_and_one_alone_runs_alone() -> None:
    of_three = setup("A", "B", "C")
    least_apart_ns = 200_000_000 - 50_000_000
    with raised(PLAN) as bed:
        one = run_several(OnBed(bed), of_three, Key(alone="B"), Limits(120.0, 60.0))
        tied = run_several(OnBed(bed), of_three, Key("fcfs", (0, 0, 0)), Limits(120.0, 60.0))
        for _ in range(5):
            all_ = run_several(OnBed(bed), of_three, Key("fcfs", (0, 200_000_000, 400_000_000)), Limits(120.0, 60.0))
            if min(begins_apart(all_)) >= least_apart_ns:  # else one was late: the machine is busy
                break
    assert list(one.told) == ["B"]
    assert [told.bytes for told in all_.told.values()] == [2 << 20] * 3
    order = sorted(tied.told, key=lambda name: tied.told[name].begin_ns)
    assert tied.problem is not None or order == ["A", "B", "C"]
    assert min(begins_apart(all_)) >= least_apart_ns
