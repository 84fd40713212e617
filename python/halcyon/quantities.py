"""Numbers as people read them. Prefixes are decimal: 1 MB is 10⁶ bytes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from halcyon.errors import UsageError

ABSENT = "–"


@dataclass(frozen=True)
class Unit:
    """A unit and how many seconds or bytes it holds."""

    name: str
    size: float


_TIMES = (Unit("s", 1.0), Unit("ms", 1e-3), Unit("µs", 1e-6), Unit("ns", 1e-9))
_BYTES = (Unit("PB", 1e15), Unit("TB", 1e12), Unit("GB", 1e9), Unit("MB", 1e6), Unit("kB", 1e3), Unit("B", 1.0))


def time_unit(values_s: Iterable[float]) -> Unit:
    """The unit in which the largest of the values reads best, for an axis or a column."""
    return _unit(values_s, _TIMES)


def byte_unit(values: Iterable[float]) -> Unit:
    """The unit in which the largest of the values reads best."""
    return _unit(values, _BYTES)


def _unit(values: Iterable[float], units: tuple[Unit, ...]) -> Unit:
    largest = max(values, default=0.0)
    if largest <= 0:
        return units[0] if units is _TIMES else units[-1]
    return next((unit for unit in units if largest >= unit.size), units[-1])


def number(value: float) -> str:
    """Three significant digits; thousands in full."""
    if value == 0:
        return "0"
    digits = f"{value:#.3g}"
    if "e" in digits:
        return f"{value:,.0f}" if abs(value) >= 1 else f"{value:.2g}"
    return digits.rstrip(".")


def seconds(value_s: float | None) -> str:
    """`1.20 s`, `350 ms`; an en dash for None."""
    if value_s is None:
        return ABSENT
    unit = time_unit([value_s])
    return f"{number(value_s / unit.size)} {unit.name}"


def seconds_with_range(middle_s: float, low_s: float, high_s: float) -> str:
    """`1.20 s (0.90–2.00)`, all in the unit of the middle value."""
    unit = time_unit([middle_s or high_s])
    low, high = number(low_s / unit.size), number(high_s / unit.size)
    return f"{number(middle_s / unit.size)} {unit.name} ({low}–{high})"


def size(value: float | None) -> str:
    """`15.8 GB`."""
    if value is None:
        return ABSENT
    unit = byte_unit([value])
    return f"{value:.0f} B" if unit.name == "B" else f"{number(value / unit.size)} {unit.name}"


def rate(bytes_per_s: float | None) -> str:
    """`695 MB/s`."""
    return ABSENT if bytes_per_s is None else f"{size(bytes_per_s)}/s"


def percent(share: float | None) -> str:
    """`4.2 %` of a share between 0 and 1; more is possible and shown."""
    if share is None:
        return ABSENT
    value = share * 100
    if 0 < value < 0.001:
        return "< 0.001 %"
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.2g} %"


def share(value: float | None) -> str:
    """`98.7 %`; what is not all is never told as 100 %."""
    if value is None:
        return ABSENT
    if value == 1:
        return "100 %"
    return f"{min(value * 100, 99.99):.2f} %" if 0.9995 <= value < 1 else f"{value * 100:,.1f} %"


def count(value: int | None) -> str:
    """`1,234,567`; an en dash for None."""
    return ABSENT if value is None else f"{value:,}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 block`, `2 blocks`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


_SIZES = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def parse_bytes(text: str, what: str) -> int:
    """`8 MiB`, `8MiB`, `4096`: bytes. UsageError: it is none; the message begins with `what`."""
    parts = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", text.strip())
    if parts is None or parts[2] not in _SIZES:
        raise UsageError(f"{what}: '{text}' is no size; expected a whole number with one of: {', '.join(_SIZES)[2:]}")
    return int(parts[1]) * _SIZES[parts[2]]


_DURATIONS = {"": 1.0, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def parse_seconds(text: str, what: str) -> float:
    """`8s`, `1.5 min`, `250`: seconds, 0 or more. UsageError: it is no duration; the message begins with `what`."""
    parts = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-zµ]*)", text.strip(), re.ASCII)
    if parts is None or parts[2] not in _DURATIONS:
        raise UsageError(
            f"{what}: '{text}' is no duration; expected a number of 0 or more with one of: {', '.join(_DURATIONS)[2:]}"
        )
    return float(parts[1]) * _DURATIONS[parts[2]]


def binary_size(value: int) -> str:
    """Of a power of two: `512 KiB`."""
    power = min((value.bit_length() - 1) // 10, len(_BINARY) - 1)
    return f"{value >> (10 * power)} {_BINARY[power]}"


_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")


def size_mark(value: int) -> str:
    """Where a class of sizes begins: powers of two as such; other marks (Darshan's lie a byte behind one) in bytes."""
    return binary_size(value) if value and not value & (value - 1) else f"{value:,} B"
