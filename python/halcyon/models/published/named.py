"""Published tables by name, such as `wright:6.3`, with the columns that a CSV file of the user's would have."""

from collections.abc import Callable, Iterable

from halcyon.errors import UsageError
from halcyon.models import published

PREFIX = "wright:"
TARGETS = 480
"""Of the file system that was measured."""
STRIPES_OF_A_LOG = 2
_EXPERIMENTS = range(1, 6)
_RANKS = {f"G.{place}": 2 ** (place + 3) for place in range(1, 9)} | {"6.5": 4096}
"""Of the tables that count collisions."""

Rows = list[dict[str, str]]


def is_name(source: str) -> bool:
    return source.lower().startswith(PREFIX)


def table_of(name: str) -> Rows:
    """UsageError: there is none of this name; the message lists those that there are."""
    found = _TABLES.get(name[len(PREFIX) :].upper())
    if found is None:
        raise UsageError(f"{name}: no such published table; known: {known_names()}")
    return found()


def known_names() -> str:
    """For messages and help."""
    alone = [f"{PREFIX}{name}" for name in _TABLES if "/" not in name]
    return f"{', '.join(alone)}; of wright:6.5 and wright:G.1 to G.8 one experiment each: wright:6.5/1 to wright:6.5/5"


def _expected() -> Rows:
    """Table 6.2."""
    return [
        {
            "jobs": row["jobs"], "request": request, "in_use": row[f"ost_in_use_R{request}"],
        }
        for request in ("160", "64")
        for row in published.table("ost_load_expected_480")
    ]  # fmt: skip


def _four_jobs() -> Rows:
    """Table 6.3: means of five experiments."""
    return [
        {
            "jobs": "4", "request": row["stripes_per_file"], "in_use": row["actual_in_use"],
            "striping_factor": row["stripes_per_file"], "bytes_per_s": _bytes(row["mean_bandwidth_MBps"]),
        }
        for row in published.table("ost_contention_measured_4_jobs")
    ]  # fmt: skip


def _sweep() -> Rows:
    """Table F.1. Its MB are 2^20 bytes: Lustre takes multiples of 64 KiB alone. The file system's default comes first,
    as the start of a sweep does."""
    cells = [
        {
            "striping_factor": column.removeprefix("stripes_"), "striping_unit": str(int(row["stripe_size_MB"]) << 20),
            "bytes_per_s": _bytes(cell),
        }
        for row in published.table("ior_bandwidth_by_stripes_1024_cores_MBps")
        for column, cell in row.items()
        if column.startswith("stripes_")
    ]  # fmt: skip
    return sorted(cells, key=lambda one: (one["striping_factor"], one["striping_unit"]) != ("2", str(1 << 20)))


def _writers() -> Rows:
    """Table F.2: per task, with its 95 % interval."""
    found = []
    for row in published.table("bandwidth_per_task_under_contention"):
        low, high = row["achieved_ci95"].strip("()").split(",")
        found.append(
            {
                "writers": row["tasks"], "bytes_per_s": _bytes(row["achieved_MBps"]),
                "low_bytes_per_s": _bytes(low), "high_bytes_per_s": _bytes(high),
            }
        )  # fmt: skip
    return found


def _logs() -> Rows:
    """Table G.9."""
    return [
        {
            "ranks": row["cores"], "shared_bytes_per_s": _bytes(row["lustre_MBps"]),
            "logs_bytes_per_s": _bytes(row["plfs_MBps"]),
        }
        for row in published.table("ior_lustre_and_plfs")
    ]  # fmt: skip


def _collisions(ranks: int, experiment: int) -> Rows:
    """Targets by their stripes (tables 6.5, G.1 to G.8)."""
    return [
        {"stripes": str(stripes), "targets": str(targets), "request": str(STRIPES_OF_A_LOG)}
        for stripes, targets in enumerate(published.collisions(ranks, experiment, TARGETS))
    ]


def _logs_in_use(names: Iterable[str]) -> Rows:
    """Targets in use, a line per experiment."""
    return [
        {
            "jobs": str(_RANKS[name]), "request": str(STRIPES_OF_A_LOG),
            "in_use": str(TARGETS - published.collisions(_RANKS[name], experiment, TARGETS)[0]),
        }
        for name in names
        for experiment in _EXPERIMENTS
    ]  # fmt: skip


def _bytes(megabytes: str) -> str:
    return str(round(float(megabytes) * published.MB))


def _one(name: str, experiment: int) -> Callable[[], Rows]:
    return lambda: _collisions(_RANKS[name], experiment)


def _each(names: tuple[str, ...]) -> Callable[[], Rows]:
    return lambda: _logs_in_use(names)


_TABLES: dict[str, Callable[[], Rows]] = {
    "6.2": _expected,
    "6.3": _four_jobs,
    "6.5": _each(("6.5",)),
    "F.1": _sweep,
    "F.2": _writers,
    "G": _each(tuple(_RANKS)),
    **{name: _each((name,)) for name in _RANKS if name != "6.5"},
    "G.9": _logs,
    **{f"{name}/{experiment}": _one(name, experiment) for name in _RANKS for experiment in _EXPERIMENTS},
}
