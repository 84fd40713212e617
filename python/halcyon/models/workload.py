"""Workloads of machines: when jobs ran, and on how many cores; from traces in the Standard Workload Format, or from
what `sacct -P` prints."""

import csv
import gzip
import math
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from halcyon.errors import ConfigError, HalcyonSystemError

_GZIP = b"\x1f\x8b"
_SWF_FIELDS = 18
_SUBMIT, _WAIT, _RUN, _CORES = 1, 2, 3, 4
_SACCT = ("JobID", "Start", "End")
_SACCT_CORES = ("AllocCPUS", "NCPUS")


@dataclass(frozen=True)
class Workload:
    """Jobs that ran; times in seconds from an origin that all share. `left_out`: jobs of the file by the reason why
    nothing is known of when they ran."""

    starts_s: list[float]
    ends_s: list[float]
    cores: list[int]
    """0 where not known."""
    left_out: dict[str, int]


@dataclass(frozen=True)
class _Job:
    start_s: float
    end_s: float
    cores: int


def read_workload(path: Path) -> Workload:
    """Of a file in either format, also packed with gzip; its first line tells which. ConfigError: it is none, or no job
    of it ran. HalcyonSystemError: it cannot be read."""
    lines = _content(path).decode("utf-8", "surrogateescape").splitlines()
    left_out: Counter[str] = Counter()
    first = next((line for line in lines if line.strip()), "")
    jobs = _of_sacct(path, lines, left_out) if "|" in first else _of_swf(path, lines, left_out)
    told = list(jobs)
    if not told:
        reasons = "; ".join(f"{reason}: {count:,}" for reason, count in left_out.items())
        raise ConfigError(
            f"{path}: no job that ran{f' ({reasons})' if reasons else ''}; expected one or more that end after they "
            "start"
        )
    return Workload(
        [job.start_s for job in told], [job.end_s for job in told], [job.cores for job in told], dict(left_out)
    )


def _content(path: Path) -> bytes:
    """Unpacked, where it is packed as archives of traces pack them."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(_GZIP) else content
    except (EOFError, zlib.error, gzip.BadGzipFile) as why:
        raise ConfigError(f"{path}: a damaged gzip file ({why}); expected a whole one, or the unpacked text") from why
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why


def _of_swf(path: Path, lines: list[str], left_out: Counter[str]) -> Iterator[_Job]:
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith(";"):
            continue
        if len(words) != _SWF_FIELDS:
            raise ConfigError(
                f"{path}:{number}: {len(words)} fields; expected {_SWF_FIELDS} of the Standard Workload Format, or a "
                "first line of `sacct -P` with JobID|Start|End"
            )
        submit, wait, run = (_number(path, number, words[field]) for field in (_SUBMIT, _WAIT, _RUN))
        cores = _number(path, number, words[_CORES])
        # -1: not known
        if wait < 0:
            left_out["start not known"] += 1
        elif run < 0:
            left_out["end not known"] += 1
        elif run == 0:
            left_out["took no time"] += 1
        else:
            yield _Job(submit + wait, submit + wait + run, max(int(cores), 0))


def _of_sacct(path: Path, lines: list[str], left_out: Counter[str]) -> Iterator[_Job]:
    table = csv.DictReader(lines, delimiter="|", quoting=csv.QUOTE_NONE)
    names = table.fieldnames or ()
    if missing := [name for name in _SACCT if name not in names]:
        raise ConfigError(f"{path}:1: no column {', '.join(missing)}; expected JobID|Start|End, as of sacct -P")
    cores_in = next((name for name in _SACCT_CORES if name in names), None)
    for row in table:
        if "." in (row["JobID"] or ""):
            continue  # a step: its job has a line of its own
        start, end = row["Start"] or "", row["End"] or ""
        if start in ("Unknown", "None", ""):
            left_out["start not known"] += 1
        elif end in ("Unknown", "None", ""):
            left_out["end not known"] += 1
        else:
            begin_s, end_s = _time(path, table.line_num, start), _time(path, table.line_num, end)
            if end_s < begin_s:
                raise ConfigError(f"{path}:{table.line_num}: End {end} lies before Start {start}")
            if end_s == begin_s:
                left_out["took no time"] += 1
            else:
                cores = _number(path, table.line_num, row[cores_in] or "0") if cores_in else 0
                yield _Job(begin_s, end_s, max(int(cores), 0))


def _number(path: Path, line: int, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f"{path}:{line}: '{word}' is no number")
    return value


def _time(path: Path, line: int, text: str) -> float:
    """Of sacct, which tells local time without its zone (differences across a change of the clocks are an hour off),
    unless SLURM_TIME_FORMAT asks for the zone."""
    try:
        when = datetime.fromisoformat(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except ValueError as why:
        raise ConfigError(f"{path}:{line}: '{text}' is no time such as 2026-01-31T12:00:00") from why
