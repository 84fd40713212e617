"""Which runs a measurement makes, in which order, and when it is content."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from measured_runs import SETUP, alone, both

from halcyon.delta import measuring
from halcyon.delta.commands import Here
from halcyon.delta.data_file import DataFile
from halcyon.delta.delays import Delay, Delays
from halcyon.delta.measuring import Progress, Wanted, is_met, measure, points
from halcyon.delta.runs import Key, Limits, Run
from halcyon.errors import HalcyonSystemError, UsageError

Times = Callable[[Key, int], Run]
LISTED = Delays((Delay(-1.0), Delay(1.0)))


class EndedError(Exception):
    """The end of a measurement, at any moment."""


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Run]]:
    """Measures with runs that `times` makes of each key and its number; gives all of the file."""

    def by(times: Times, wanted: Wanted, most: int | None = None, told: list[Progress] | None = None) -> list[Run]:
        counts: Counter[Key] = Counter()

        def made(_place: object, _setup: object, key: Key, _limits: object) -> Run:
            if most is not None and counts.total() == most:
                raise EndedError
            counts[key] += 1
            return times(key, counts[key])

        monkeypatch.setattr(measuring, "run_once", made)
        with DataFile(tmp_path / "delta.jsonl", SETUP, None) as file:
            with suppress(EndedError):
                measure(Here(), SETUP, wanted, file, Limits(), None if told is None else told.append)
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
    assert counts[Key(alone="A")] == 2


@pytest.mark.parametrize("killed_after", range(20))
def test_wherever_a_measurement_is_ended_it_goes_on_with_what_is_missing(
    measured: Callable[..., list[Run]], killed_after: int
) -> None:
    wanted = Wanted(Delays((Delay(0.5, True), Delay(0.0))), ("none", "fcfs"), repeat=3)
    first = measured(steady, wanted, killed_after)
    whole = measured(steady, wanted)
    assert len(first) == min(killed_after, 18)
    assert whole[: len(first)] == first
    assert set(Counter(run.key for run in whole).values()) == {3}


def test_delays_in_times_of_a_follow_from_the_first_runs_alone(measured: Callable[..., list[Run]]) -> None:
    wanted = Wanted(Delays((Delay(0.5, True),)), ("none",), repeat=2, most=2)
    runs = measured(lambda key, n: alone("A", 2.0 + n) if key.alone == "A" else steady(key, n), wanted)
    assert {run.key.alone for run in runs[:4]} == {"A", "B"}
    assert points(wanted, runs) == [Key("none", 1_750_000_000)]
    assert points(wanted, [*runs, alone("A", 9.0)]) == [Key("none", 1_750_000_000)]


def test_progress_counts_down_to_none(measured: Callable[..., list[Run]]) -> None:
    told: list[Progress] = []
    measured(steady, Wanted(LISTED, ("none",), repeat=2), None, told)
    assert [one.made for one in told] == list(range(1, 9))
    assert [one.left for one in told] == list(range(7, -1, -1))


def test_no_run_begins_after_the_time_given(measured: Callable[..., list[Run]]) -> None:
    assert measured(steady, Wanted(LISTED, ("none",), within_s=0.0)) == []


def test_a_command_that_fails_ends_the_measurement(measured: Callable[..., list[Run]]) -> None:
    def fails(_key: Key, _number: int) -> Run:
        raise HalcyonSystemError("A failed")

    with pytest.raises(HalcyonSystemError, match="A failed"):
        measured(fails, Wanted(LISTED, ("none",)))


@pytest.mark.parametrize("wrong", [{"repeat": 0}, {"repeat": 3, "most": 2}, {"confidence": 1.0}, {"half_width": 0.0}])
def test_settings_out_of_bounds_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Wanted(LISTED, ("none",), **wrong)  # type: ignore[arg-type]
