"""Reads measured bandwidths of stripe counts, as `halcyon advise --sweep` writes them."""

import csv
import math
from pathlib import Path
from statistics import mean

from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.models.stripes import MeasuredRequest

STRIPES, RATE = "striping_factor", "bytes_per_s"


def read_measured(path: Path) -> list[MeasuredRequest]:
    """The best mean bandwidth of each stripe count, over all that was varied besides it; runs without a bandwidth are
    left out. ConfigError: a column is missing, or a value is no number. HalcyonSystemError: it cannot be read."""
    of_point: dict[tuple[str, ...], list[float]] = {}
    stripes_of: dict[tuple[str, ...], int] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = csv.DictReader(file)
            names = list(lines.fieldnames or ())
            for column in (STRIPES, RATE):
                if column not in names:
                    raise ConfigError(f"{path}:1: no column '{column}'; found: {', '.join(names) or 'none'}")
            others = [name for name in names if name not in (RATE, "run")]
            for line in lines:
                if not line[RATE]:
                    continue
                point = tuple(line[name] or "" for name in others)
                stripes_of[point] = int(_number(path, lines.line_num, STRIPES, line[STRIPES], whole=True))
                of_point.setdefault(point, []).append(_number(path, lines.line_num, RATE, line[RATE]))
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    except (UnicodeDecodeError, csv.Error) as why:
        raise ConfigError(f"{path}: not a CSV file: {why}") from why
    best: dict[int, float] = {}
    for point, values in of_point.items():
        best[stripes_of[point]] = max(mean(values), best.get(stripes_of[point], 0.0))
    return [MeasuredRequest(request, rate) for request, rate in sorted(best.items())]


def _number(path: Path, line: int, column: str, text: str | None, *, whole: bool = False) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0 and (not whole or value == int(value))):
        kind = "a whole number above 0" if whole else "a number above 0"
        raise ConfigError(f"{path}:{line}: {column}: '{text}'; expected {kind}")
    return value
