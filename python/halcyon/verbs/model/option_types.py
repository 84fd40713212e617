"""Values of options, as types for argparse."""

import argparse
import math
from collections.abc import Callable

from halcyon.errors import UsageError
from halcyon.quantities import parse_bytes, parse_seconds


def count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= 1 << 40:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1 to 2^40")
    return int(text)


def counts(text: str) -> list[int]:
    return [count(word) for word in text.split(",")]


def duration(text: str) -> float:
    try:
        return parse_seconds(text, "")
    except UsageError as why:
        raise argparse.ArgumentTypeError(str(why).removeprefix(": ")) from why


def size(text: str) -> int:
    """`40 GB`: in bytes."""
    try:
        return parse_bytes(text, "")
    except UsageError as why:
        raise argparse.ArgumentTypeError(str(why).removeprefix(": ")) from why


def time_above_zero(text: str) -> float:
    value = duration(text)
    if value == 0:
        raise argparse.ArgumentTypeError(f"'{text}'; expected a duration above 0")
    return value


def percents(text: str) -> list[float]:
    """`5,10`: as shares."""
    return [percent(word) for word in text.split(",")]


def percent(text: str) -> float:
    """`5`: as a share."""
    return _number(text.removesuffix("%"), lambda value: 0 <= value <= 100, "percentage from 0 to 100") / 100


def share(text: str) -> float:
    return _number(text, lambda value: 0 < value <= 1, "share above 0 up to 1")


def above_zero(text: str) -> float:
    return _number(text, lambda value: value > 0, "number above 0")


def zero_or_more(text: str) -> float:
    return _number(text, lambda value: value >= 0, "number of 0 or more")


def _number(text: str, fits: Callable[[float], bool], expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or not fits(value):
        raise argparse.ArgumentTypeError(f"'{text}' is no {expected}")
    return value
