"""What logs.py measured, as tables for the documentation."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles

from logged_patterns import PATTERNS, READ_BACK, READERS_ON, REPEAT, WAYS, Counted, Key, Run, counted, run_of

from halcyon.delta.data_file import known
from halcyon.delta.row_file import read_rows


def page(data: Path) -> str:
    """Medians in MB/s, with the 10th and 90th percentile. HalcyonError: the file is damaged."""
    if not data.exists():
        return "*Not measured: `make study-logs`.*"
    runs = [known(data, run_of, row) for row in read_rows(data).runs]
    return "\n".join([*written(runs), "", *rates(runs), "", *read_back(runs)])


def written(runs: Sequence[Run]) -> Iterator[str]:
    found = counted(runs)
    yield "| written | | plain | log | log over plain | mount | per process, plain | log |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for name, pattern in PATTERNS.items():
        for durable in (True, False):
            plain, log = (found[Key(name, way, durable)] for way in ("plain", "log"))
            cells = [pattern.what, "durable" if durable else "cached"]
            mount = found.get(Key(name, "fuse", durable))
            cells += [_cell(plain, _bandwidth), _cell(log, _bandwidth), _over(log, plain)]
            cells.append(_cell(mount, _bandwidth) if mount else "")
            cells += [_cell(plain, _per_process), _cell(log, _per_process)]
            yield _row(cells)


def rates(runs: Sequence[Run]) -> Iterator[str]:
    """Table 5.1 of Wright 2014, of the traces of durable runs."""
    found = counted(runs)
    yield "| from traces | MPI perceived, plain | log | MPI effective, plain | log | POSIX effective, plain | log |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, pattern in PATTERNS.items():
        cells = [pattern.what]
        for rate in ("perceived_mpi", "effective_mpi", "effective_posix"):
            for way in ("plain", "log"):
                cells.append(_cell(found[Key(name, way)], lambda run, rate=rate: run.rates.get(rate)))
        yield _row(cells)


def read_back(runs: Sequence[Run]) -> Iterator[str]:
    found = counted(runs)
    yield "| read back on | plain | log | mount |"
    yield "|---|---:|---:|---:|"
    for hosts in READERS_ON:
        cells = [f"{hosts} {'hosts' if hosts > 1 else 'host'}"]
        cells += [_cell(found[Key(READ_BACK, way, hosts=hosts, reads=True)], _bandwidth) for way in WAYS]
        yield _row(cells)


def _bandwidth(run: Run) -> float | None:
    return run.bandwidth


def _per_process(run: Run) -> float | None:
    return run.per_process


def _cell(one: Counted, of: Callable[[Run], float | None]) -> str:
    values = [value / 1e6 for run in one.runs if (value := of(run)) is not None]
    if not values:
        return ""
    if len(one.runs) < REPEAT:
        return "not yet"
    deciles = quantiles(values, n=10, method="inclusive")
    return f"{median(values):.1f} ({deciles[0]:.1f} … {deciles[-1]:.1f})"


def _over(one: Counted, other: Counted) -> str:
    if len(one.runs) < REPEAT or len(other.runs) < REPEAT:
        return "not yet"
    return f"{median(run.bandwidth for run in one.runs) / median(run.bandwidth for run in other.runs):.2f}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
