"""Runs with numbers small enough to check by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest
from synthetic_runs import FILES, PHASES, START_NS, write_counts, write_csv, write_manifest

MS = 10**6


def seconds_in(start_s: float) -> int:
    return START_NS + round(start_s * 1e9)


@pytest.fixture
def hand_run(tmp_path: Path) -> Path:
    """Two ranks, three phases, one server. Slowest ranks: 300, 200 and 400 ms; differences: 200, 0 and 300 ms."""
    directory = tmp_path / "hand"
    write_manifest(directory, run_s=5.0, compute_s=None)
    write_csv(
        directory,
        "phases-n0000.csv",
        PHASES,
        [
            [0, 0, seconds_in(1.0), 100 * MS, 0, 1000 * MS, 6_000_000],
            [0, 1, seconds_in(1.0), 300 * MS, 0, 1000 * MS, 6_000_000],
            [1, 0, seconds_in(2.3), 200 * MS, 0, 1000 * MS, 6_000_000],
            [1, 1, seconds_in(2.3), 200 * MS, 0, 1200 * MS, 6_000_000],
            [2, 0, seconds_in(3.7), 400 * MS, 50 * MS, 1000 * MS, 6_000_000],
            [2, 1, seconds_in(3.7), 100 * MS, 0, 1000 * MS, 6_000_000],
        ],
    )
    # complete, begin, end, slot wait, compress, write; the third file has 100 ms of other work.
    files = [
        [0, 0, 0, seconds_in(1.3), seconds_in(1.4), seconds_in(1.9), 0, 100 * MS, 400 * MS],
        [1, 1, 0, seconds_in(2.7), seconds_in(2.8), seconds_in(3.3), 100 * MS, 100 * MS, 400 * MS],
        [2, 2, 0, seconds_in(4.1), seconds_in(4.2), seconds_in(5.0), 0, 200 * MS, 500 * MS],
    ]
    write_csv(directory, "server-n0000.csv", FILES, [[*row, 12_000_000, 9_000_000, 1] for row in files])
    write_counts(directory, iterations=3, blocks=6, bytes=36_000_000, busy_ns=1800 * MS, idle_ns=3200 * MS)
    return directory


@pytest.fixture
def phases_of_two_ranks(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run of two ranks from pairs of visible times in ms, one pair per phase."""

    def write(name: str, pairs: list[tuple[int, int]], **manifest: object) -> Path:
        directory = tmp_path / name
        write_manifest(directory, **{"approach": "file-per-process", "dedicated_cores": 0, "writers": [], **manifest})
        rows = [
            [phase, rank, seconds_in(2.0 * phase + 1), visible * MS, 0, 1000 * MS, 4_000_000]
            for phase, pair in enumerate(pairs)
            for rank, visible in enumerate(pair)
        ]
        write_csv(directory, "phases-n0000.csv", PHASES, rows)
        return directory

    return write
