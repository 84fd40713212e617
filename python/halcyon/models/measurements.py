"""Reads what was measured of storage targets: bandwidths, targets in use, stripes per target."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from halcyon.errors import ConfigError
from halcyon.models.measured_rows import Row, Rows, read_rows
from halcyon.models.stripes import MeasuredRequest

_MOST_STRIPES = 10_000_000
"""On all targets: their distribution takes a minute."""
COUNT, SIZE, RATE = "striping_factor", "striping_unit", "bytes_per_s"


@dataclass(frozen=True)
class MeasuredStriping:
    """The mean bandwidth of a file with so many stripes of so many bytes; without a size, that was not varied."""

    stripes: int
    stripe_bytes: int | None
    bytes_per_s: float


@dataclass(frozen=True)
class MeasuredLoad:
    """Targets in use by `jobs` jobs of `request` stripes each; a mean need not be whole."""

    jobs: int
    request: int
    in_use: float


@dataclass(frozen=True)
class MeasuredTargets:
    """Files of `request` stripes each, of which `targets[k]` targets have k."""

    request: int
    targets: list[int]


@dataclass(frozen=True)
class MeasuredWriters:
    """Bandwidth of each of `writers` writers to one target, and its interval."""

    writers: int
    bytes_per_s: float
    low_bytes_per_s: float
    high_bytes_per_s: float


@dataclass(frozen=True)
class MeasuredLogs:
    """Bandwidth of a shared file, and of one log per rank."""

    ranks: int
    shared_bytes_per_s: float
    logs_bytes_per_s: float


def read_measured(source: Path | str) -> list[MeasuredRequest]:
    """The best mean bandwidth of each stripe count, over all that was varied besides it. As `halcyon advise --sweep`
    writes it; runs without a bandwidth are left out. ConfigError: a column is missing, or a value is no number."""
    best: dict[int, float] = {}
    for rows in _points(source, COUNT).values():
        stripes = rows[0].whole(COUNT)
        best[stripes] = max(mean(row.positive(RATE) for row in rows), best.get(stripes, 0.0))
    return [MeasuredRequest(request, rate) for request, rate in sorted(best.items())]


def read_striping(source: Path | str) -> list[MeasuredStriping]:
    """The best mean of each stripe count and size, in their order. ConfigError as above."""
    best: dict[tuple[int, int | None], float] = {}
    for rows in _points(source, COUNT).values():
        key = rows[0].whole(COUNT), rows[0].whole(SIZE) if rows[0].has(SIZE) else None
        best[key] = max(mean(row.positive(RATE) for row in rows), best.get(key, 0.0))
    return [MeasuredStriping(stripes, size, rate) for (stripes, size), rate in best.items()]


def read_loads(source: Path | str) -> list[MeasuredLoad]:
    """A line per experiment with the columns jobs, request and in_use. ConfigError: see above."""
    return [
        MeasuredLoad(row.whole("jobs"), row.whole("request"), row.positive("in_use"))
        for row in _rows(source, "jobs", "request", "in_use")
    ]


def read_targets(source: Path | str) -> MeasuredTargets:
    """A line per number of stripes: the targets that have so many; `request`: of each file, alike in all lines."""
    counts: dict[int, int] = defaultdict(int)
    requests = set()
    rows = _rows(source, "stripes", "targets", "request")
    for row in rows:
        counts[row.whole("stripes", 0)] += row.whole("targets", 0)
        requests.add(row.whole("request"))
    if len(requests) != 1:
        raise ConfigError(f"{rows[-1].where}: request: files of different requests; expected the same in all lines")
    stripes = sum(count * targets for count, targets in counts.items())
    if max(counts) > _MOST_STRIPES or stripes > _MOST_STRIPES:
        raise ConfigError(
            f"{source}: {max(stripes, max(counts)):,} stripes; expected {_MOST_STRIPES:,} or fewer in all"
        )
    return MeasuredTargets(requests.pop(), [counts[stripes] for stripes in range(max(counts) + 1)])


def read_writers(source: Path | str) -> list[MeasuredWriters]:
    """A line per number of writers to one target, by their number; without an interval, its ends are the bandwidth."""
    found = []
    for row in _rows(source, "writers", RATE):
        ends = [row.positive(name) if row.has(name) else row.positive(RATE) for name in (f"low_{RATE}", f"high_{RATE}")]
        found.append(MeasuredWriters(row.whole("writers"), row.positive(RATE), *ends))
    return sorted(found, key=lambda one: one.writers)


def read_logs(source: Path | str) -> list[MeasuredLogs]:
    """A line per number of ranks, by it."""
    columns = ("shared_bytes_per_s", "logs_bytes_per_s")
    found = [
        MeasuredLogs(row.whole("ranks"), *(row.positive(column) for column in columns))
        for row in _rows(source, "ranks", *columns)
    ]
    return sorted(found, key=lambda one: one.ranks)


def has_logs(source: Path | str) -> bool:
    """Whether it tells bandwidths of logs, else targets in use."""
    return "logs_bytes_per_s" in read_rows(source).columns


def _rows(source: Path | str, *columns: str) -> Sequence[Row]:
    table = read_rows(source)
    table.require(*columns)
    return table.rows


def _points(source: Path | str, *columns: str) -> dict[tuple[str, ...], list[Row]]:
    """Runs with a bandwidth, by everything that was varied."""
    table: Rows = read_rows(source)
    table.require(*columns, RATE)
    others = [name for name in table.columns if name not in (RATE, "run")]
    points: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in table.rows:
        if row.has(RATE):
            points[tuple(row.values.get(name, "") for name in others)].append(row)
    return points
