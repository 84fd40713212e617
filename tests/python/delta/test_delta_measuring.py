"""Which runs a measurement makes, in which order, and when it is content."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from measured_runs import SETUP, alone, both

from halcyon.delta import measuring
from halcyon.delta.commands import Here
from halcyon.delta.data_file import DataFile, read
from halcyon.delta.delays import Delay, Delays
from halcyon.delta.measuring import Progress, Wanted, is_met, measure, points
from halcyon.delta.printed import run_in_words
from halcyon.delta.runs import Key, Limits, Run
from halcyon.errors import HalcyonSystemError, UsageError

Times = Callable[[Key, int], Run]
LISTED = Delays((Delay(-1.0), Delay(1.0)))


class EndedError(Exception):
    """The end of a measurement, at any moment."""


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Run]]:
    """Measures with runs that `times` makes of each key and its number; gives all of the file."""

    def by(
        times: Times, wanted: Wanted | Sequence[Wanted], most: int | None = None, told: list[Progress] | None = None,
        **settings: float,
    ) -> list[Run]:  # fmt: skip
        each = [wanted] if isinstance(wanted, Wanted) else wanted
        counts: Counter[Key] = Counter()

        def made(_place: object, _setup: object, key: Key, _limits: object) -> Run:
            if most is not None and counts.total() == most:
                raise EndedError
            counts[key] += 1
            return times(key, counts[key])

        monkeypatch.setattr(measuring, "run_once", made)
        with DataFile(tmp_path / "delta.jsonl", SETUP, None) as file:
            with suppress(EndedError):
                measure(Here(), SETUP, each, file, Limits(), None if told is None else told.append, **settings)
            return list(file.runs)

    return by


def steady(key: Key, _number: int) -> Run:
    return alone(key.alone, 2.0) if key.alone else both(key, 3.0, 4.0)


def test_each_point_and_both_alone_have_their_runs(measured: Callable[..., list[Run]]) -> None:
    runs = measured(steady, Wanted(LISTED, ("none", "fcfs"), repeat=3))
    counts = Counter(run.key for run in runs)
    both_of = [Key(policy, dt_ns) for policy in ("none", "fcfs") for dt_ns in (-(10**9), 10**9)]
    assert counts == dict.fromkeys([Key(alone="A"), Key(alone="B"), *both_of], 3)


def test_every_round_has_each_point_once_in_another_order(measured: Callable[..., list[Run]]) -> None:
    runs = measured(steady, Wanted(LISTED, ("none", "fcfs"), repeat=4))
    rounds = [[run.key for run in runs[i : i + 6]] for i in range(0, 24, 6)]
    assert all(len(set(one)) == 6 for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1


def test_the_order_follows_from_the_seed(measured: Callable[..., list[Run]], tmp_path: Path) -> None:
    orders = []
    for seed in (1, 1, 2):
        (tmp_path / "delta.jsonl").unlink(missing_ok=True)
        orders.append([run.key for run in measured(steady, Wanted(LISTED, ("none", "fcfs"), repeat=2, seed=seed))])
    assert orders[0] == orders[1] != orders[2]


def test_a_wide_interval_is_repeated_until_it_is_narrow(measured: Callable[..., list[Run]]) -> None:
    def calming(key: Key, number: int) -> Run:
        unsteady = key == Key("none", 10**9) and number == 1
        return both(key, 4.0 if unsteady else 3.0, 4.0) if key.alone is None else steady(key, number)

    wanted = Wanted(LISTED, ("none",), repeat=3, most=50)
    runs = measured(calming, wanted)
    counts = Counter(run.key for run in runs)
    assert counts[Key("none", -(10**9))] == 3
    assert 3 < counts[Key("none", 10**9)] < 50
    assert is_met(Key("none", 10**9), runs, wanted)


def test_a_point_has_three_runs_that_count_for_each_that_does_not(measured: Callable[..., list[Run]]) -> None:
    point = Key("none", 10**9)
    runs = measured(
        lambda key, n: both(key, 3.0, 4.0, "late" if n <= 2 else None) if key == point else steady(key, n),
        Wanted(LISTED, ("none",), repeat=3),
    )
    counts = Counter(run.problem for run in runs if run.key == point)
    assert counts == {"late": 2, None: 6}


def test_a_point_that_never_calms_ends_unmet(measured: Callable[..., list[Run]]) -> None:
    wanted = Wanted(LISTED, ("none",), repeat=2, most=5)
    runs = measured(lambda key, n: both(key, 3.0 + n % 2, 4.0) if key.alone is None else steady(key, n), wanted)
    assert Counter(run.key for run in runs)[Key("none", 10**9)] == 5
    assert not is_met(Key("none", 10**9), runs, wanted)


def test_a_point_that_was_given_up_with_too_few_runs_is_not_met(measured: Callable[..., list[Run]]) -> None:
    wanted = Wanted(LISTED, ("none",), repeat=3)
    runs = measured(
        lambda key, n: both(key, 3.0, 4.0, None if n <= 2 else "late") if key.alone is None else steady(key, n), wanted
    )
    assert Counter(run.problem for run in runs if run.key == Key("none", 10**9)) == {None: 2, "late": 9}
    assert not is_met(Key("none", 10**9), runs, wanted)


def test_runs_with_a_problem_do_not_count_and_end(measured: Callable[..., list[Run]]) -> None:
    runs = measured(
        lambda key, n: both(key, 3.0, 4.0, "late") if key.alone is None else steady(key, n),
        Wanted(LISTED, ("none",), repeat=2),
    )
    counts = Counter(run.key for run in runs)
    assert counts[Key("none", 10**9)] == 6
    assert counts[Key(alone="A")] == 6  # one in each round


@pytest.mark.parametrize("killed_after", range(25))
def test_wherever_a_measurement_is_ended_it_goes_on_with_what_is_missing(
    measured: Callable[..., list[Run]], killed_after: int
) -> None:
    wanted = Wanted(Delays((Delay(0.5, True), Delay(0.0))), ("none", "fcfs"), repeat=3)
    first = measured(steady, wanted, killed_after)
    whole = measured(steady, wanted)
    assert len(first) == min(killed_after, 24)
    assert whole[: len(first)] == first
    counts = Counter(run.key for run in whole)
    assert {count for key, count in counts.items() if key.alone is None} == {3}
    # Three for the delays, and one in each round, also of one that was cut short.
    assert all(6 <= counts[Key(alone=name)] <= 7 for name in "AB")


def test_delays_in_times_of_a_follow_from_the_first_runs_alone(measured: Callable[..., list[Run]]) -> None:
    wanted = Wanted(Delays((Delay(0.5, True),)), ("none",), repeat=2, most=2)
    runs = measured(lambda key, n: alone("A", 2.0 + n) if key.alone == "A" else steady(key, n), wanted)
    assert {run.key.alone for run in runs[:4]} == {"A", "B"}
    assert points(wanted, runs) == [Key("none", 1_750_000_000)]
    assert points(wanted, [*runs, alone("A", 9.0)]) == [Key("none", 1_750_000_000)]


def test_runs_alone_are_made_in_every_round_up_to_the_most(measured: Callable[..., list[Run]]) -> None:
    wanted = Wanted(Delays((Delay(0.5, True), Delay(-0.5, True))), ("none",), repeat=3, most=5)
    keys = [run.key for run in measured(steady, wanted)]
    assert Counter(keys) == {
        Key(alone="A"): 5, Key(alone="B"): 5, Key("none", 10**9): 3, Key("none", -(10**9)): 3,
    }  # fmt: skip
    assert [set(keys[i : i + 4]) for i in (6, 10)] == [set(keys)] * 2


def test_a_time_alone_that_is_wide_is_repeated_among_the_others(measured: Callable[..., list[Run]]) -> None:
    wanted = Wanted(Delays((Delay(0.5, True),)), ("none",), repeat=2, most=6)
    runs = measured(lambda key, n: alone("A", 2.0 + n % 2) if key.alone == "A" else steady(key, n), wanted)
    assert {run.key.alone for run in runs[4:7]} == {"A", "B", None}
    assert Counter(run.key.alone for run in runs)["A"] == 6


def test_several_wants_are_measured_in_the_same_rounds(measured: Callable[..., list[Run]]) -> None:
    many = Wanted(LISTED, ("none", "fcfs"), repeat=2)
    few = Wanted(Delays((Delay(1.0),)), ("set-10",), repeat=2)
    keys = [run.key for run in measured(steady, [many, few])]
    assert len(keys) == 14
    assert set(keys[:7]) == set(keys[7:]) == set(keys)


def test_a_point_that_two_want_has_the_runs_of_the_one_that_wants_more(
    measured: Callable[..., list[Run]], tmp_path: Path
) -> None:
    few, more = Wanted(LISTED, ("none",), repeat=1, most=1), Wanted(Delays((Delay(1.0),)), ("none",), repeat=4)
    for wanted in ([few, more], [more, few]):
        (tmp_path / "delta.jsonl").unlink(missing_ok=True)
        counts = Counter(run.key for run in measured(steady, wanted))
        assert (counts[Key("none", 10**9)], counts[Key("none", -(10**9))]) == (4, 1)
        assert counts[Key(alone="A")] == 4


@pytest.mark.parametrize("delays", [LISTED, Delays((Delay(0.5, True), Delay(0.0)))])
def test_progress_counts_down_by_one_each(measured: Callable[..., list[Run]], delays: Delays) -> None:
    told: list[Progress] = []
    measured(steady, Wanted(delays, ("none", "fcfs"), repeat=4, most=6), None, told)
    of_rounds = told[-[one.made for one in reversed(told)].index(1) - 1 :]
    assert [one.left for one in of_rounds] == list(range(len(of_rounds) - 1, -1, -1))


def test_progress_counts_down_to_none(measured: Callable[..., list[Run]]) -> None:
    told: list[Progress] = []
    measured(steady, Wanted(LISTED, ("none",), repeat=2), None, told)
    assert [one.made for one in told] == list(range(1, 9))
    assert [one.left for one in told] == list(range(7, -1, -1))


def test_no_run_begins_after_the_time_given(measured: Callable[..., list[Run]]) -> None:
    assert measured(steady, Wanted(LISTED, ("none",)), within_s=0.0) == []


def test_a_command_that_fails_ends_the_measurement(measured: Callable[..., list[Run]]) -> None:
    def fails(_key: Key, _number: int) -> Run:
        raise HalcyonSystemError("A failed")

    with pytest.raises(HalcyonSystemError, match="A failed"):
        measured(fails, Wanted(LISTED, ("none",)))


def failing(at: Key) -> Times:
    def times(key: Key, number: int) -> Run:
        if key == at:
            raise HalcyonSystemError(f"B failed in run {number}")
        return steady(key, number)

    return times


def test_failed_runs_are_kept_and_others_go_on(measured: Callable[..., list[Run]]) -> None:
    broken = Key("fcfs", 10**9)
    runs = measured(failing(broken), Wanted(LISTED, ("none", "fcfs"), repeat=2), forgive=1)
    failed = [run for run in runs if run.key == broken]
    assert [run.problem for run in failed] == [f"B failed in run {n}" for n in range(1, 7)]
    assert all(run.a is run.b is None for run in failed)
    counts = Counter(run.key for run in runs if run.problem is None)
    assert counts == {
        Key(alone="A"): 6, Key(alone="B"): 6, Key("fcfs", -(10**9)): 2, Key("none", 10**9): 2, Key("none", -(10**9)): 2,
    }  # fmt: skip


def test_more_failed_runs_in_a_row_end_the_measurement(measured: Callable[..., list[Run]], tmp_path: Path) -> None:
    def fails(key: Key, _number: int) -> Run:
        raise HalcyonSystemError(f"{key.text} failed")

    with pytest.raises(HalcyonSystemError, match="failed"):
        measured(fails, Wanted(LISTED, ("none",)), forgive=2)
    kept = read(tmp_path / "delta.jsonl").runs
    assert [run.problem for run in kept] == [f"{run.key.text} failed" for run in kept]
    assert len({run.key for run in kept}) == 2


def test_a_failed_run_is_told_by_its_reason() -> None:
    run = Run(Key(), None, None, None, None, "B failed", 1.0, 2.0)
    assert run_in_words(Progress(run, 2, 3)) == "2 of 5: none, B 0.00 s after A: failed: B failed"


@pytest.mark.parametrize("wrong", [{"repeat": 0}, {"repeat": 3, "most": 2}, {"confidence": 1.0}, {"half_width": 0.0}])
def test_settings_out_of_bounds_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Wanted(LISTED, ("none",), **wrong)  # type: ignore[arg-type]
