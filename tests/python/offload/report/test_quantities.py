"""Numbers as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halcyon.errors import UsageError
from halcyon.quantities import (
    number,
    parse_seconds,
    percent,
    plural,
    rate,
    seconds,
    seconds_with_range,
    share,
    size,
)


@given(st.floats(1e-9, 1e12))
def test_three_digits_are_kept_and_no_exponent_above_one_thousandth(value: float) -> None:
    text = number(value)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=0.0051 if value >= 1e-3 else 0.051)
    assert "e" not in text or value < 1e-3


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 s"), (1.2, "1.20 s"), (0.35, "350 ms"), (47.5e-6, "47.5 µs"), (3e-9, "3.00 ns"), (5983.7, "5,984 s")],
)
def test_seconds_choose_their_unit(value: float, text: str) -> None:
    assert seconds(value) == text


def test_unknown_values_are_a_dash_never_zero() -> None:
    assert {seconds(None), size(None), rate(None), percent(None)} == {"–"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.987, "98.7 %"), (0, "0.0 %"), (0.9997, "99.97 %"), (0.999999, "99.99 %"), (1, "100 %"), (None, "–")],
)
def test_what_is_not_all_is_not_told_as_all(value: float | None, text: str) -> None:
    assert share(value) == text


def test_range_is_in_the_unit_of_the_middle() -> None:
    assert seconds_with_range(1.25, 0.617, 1.61) == "1.25 s (0.617–1.61)"
    assert seconds_with_range(0.0, 0.0, 0.002) == "0 ms (0–2.00)"


def test_bytes_rates_shares_and_counts() -> None:
    assert (size(0), size(999), size(15_800_000_000)) == ("0 B", "999 B", "15.8 GB")
    assert rate(695e6) == "695 MB/s"
    assert (percent(0), percent(0.0422), percent(0.55), percent(1.3)) == ("0 %", "4.2 %", "55 %", "130 %")
    assert (percent(8.8e-7), percent(1.2e-5), percent(0.0996)) == ("< 0.001 %", "0.0012 %", "10 %")
    assert (plural(1, "block"), plural(1200, "block")) == ("1 block", "1,200 blocks")


@pytest.mark.parametrize(
    ("text", "value_s"),
    [
        ("8s", 8),
        (" 1.5 min ", 90),
        ("250", 250),
        ("2h", 7200),
        (".5d", 43200),
        ("20 ms", 0.02),
        ("3µs", 3e-6),
        ("0", 0),
    ],
)
def test_durations_have_units(text: str, value_s: float) -> None:
    assert parse_seconds(text, "--time") == pytest.approx(value_s)


@pytest.mark.parametrize("text", ["", "s", "-1s", "1e3s", "1 S", "1 m", "nan", "1,5s", "٣s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_seconds(text, "--time")
    assert str(refused.value) == (
        f"--time: '{text}' is no duration; expected a number of 0 or more with one of: us, µs, ms, s, min, h, d"
    )
