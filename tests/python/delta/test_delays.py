"""Delays of B after A: how they are written, and which a range holds."""

import pytest

from halcyon.delta.delays import Delay, Delays, parse_delay, parse_delays
from halcyon.errors import UsageError


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("2s", Delay(2.0)), ("-350ms", Delay(-0.35)), ("+1.5", Delay(1.5)), ("0", Delay(0.0)),
        ("0.5TA", Delay(0.5, True)), ("-1.25TA", Delay(-1.25, True)),
    ],
)  # fmt: skip
def test_delays_are_in_seconds_or_in_times_of_a(text: str, delay: Delay) -> None:
    found = parse_delay(text, "--dt")
    assert (found.ns(1.0), found.of_a) == (delay.ns(1.0), delay.of_a)


@pytest.mark.parametrize("text", ["", "fast", "1TB", "--1s", "1,2"])
def test_what_is_no_delay_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--dt: .* is no delay; expected one such as 2s, -350ms or 0\.5TA"):
        parse_delay(text, "--dt")


def test_listed_delays_come_sorted_and_once() -> None:
    assert Delays(parse_delays("2s,-0.5TA,2")).ns(4.0, 1.0) == [-2_000_000_000, 2_000_000_000]


def test_a_range_is_evenly_spaced_with_both_ends() -> None:
    delays = Delays((), Delay(-1.0, True), Delay(1.0), 5)
    assert delays.ns(3.0, 9.0) == [-3_000_000_000, -2_000_000_000, -1_000_000_000, 0, 1_000_000_000]
    assert delays.need_alone
    assert not Delays((), Delay(-1.0), Delay(1.0), 5).need_alone


@pytest.mark.parametrize(
    ("first", "last", "listed"),
    [
        ("-1TA", "1TA", "-1TA,-0.75TA,-0.5TA,-0.25TA,0,0.25TA,0.5TA,0.75TA,1TA"),
        ("-0.4TA", "1.2TA", "-0.4TA,-0.2TA,0,0.2TA,0.4TA,0.6TA,0.8TA,1TA,1.2TA"),
        ("0", "0.75TA", "0,0.25TA,0.5TA,0.75TA"),
    ],
)
def test_points_of_a_range_and_the_same_delays_in_a_list_are_the_same_numbers(
    first: str, last: str, listed: str
) -> None:
    as_listed = Delays(parse_delays(listed))
    as_range = Delays((), parse_delay(first, "--from"), parse_delay(last, "--to"), len(as_listed.listed))
    for a_alone_s in (5.0025, 4.998, 5.0013, 6.006, 3.3335, 7.777):
        assert as_range.ns(a_alone_s, 1.0) == as_listed.ns(a_alone_s, 1.0)


def test_the_usual_range_reaches_beyond_both_phases_and_holds_zero() -> None:
    ns = Delays().ns(4.0, 2.0)
    assert ns[0] == -2_800_000_000
    assert ns[-1] == 4_800_000_000
    assert 0 in ns
    assert Delays().need_alone


def test_a_range_that_runs_backwards_is_refused() -> None:
    with pytest.raises(UsageError, match="the last must be after the first"):
        Delays((), Delay(1.0), Delay(-1.0), 3).ns(1.0, 1.0)
