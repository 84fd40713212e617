"""A program of MPI whose collective writes stop where a test wants them."""

import subprocess
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "coordinate/programs"
REGIONS, PIECES, PIECE = 8, 128, 4096
"""As in collective.c."""


class Gates:
    """Of one run. Transfers are told by rank and number, from 1 on; `above` Halcyon's layer and `below` it."""

    def __init__(self, folder: Path, file: Path, mpi: str) -> None:
        self.folder = folder
        self.file = file
        folder.mkdir()
        self.program = folder / "collective"
        self._below = folder / "below.so"
        sources = [PROGRAMS / "collective.c", PROGRAMS / "gated_writes.c"]
        above = ["-O1", "-rdynamic", '-DGATE="above"', *sources, "-o", self.program, "-ldl"]
        below = ["-O1", "-shared", "-fPIC", '-DGATE="below"', sources[1], "-o", self._below, "-ldl"]
        subprocess.run([f"mpicc.{mpi}", *above], check=True)
        subprocess.run(["cc", *below], check=True)

    @property
    def variables(self) -> dict[str, str]:
        return {"GATES": str(self.folder), "GATED_FILE": str(self.file), "LD_PRELOAD": str(self._below)}

    def _mark(self, gate: str, rank: int, number: int, ending: str) -> Path:
        return self.folder / f"{gate}-{rank}-{number}.{ending}"

    def close(self, gate: str, rank: int, number: int) -> None:
        self._mark(gate, rank, number, "closed").touch()

    def is_reached(self, gate: str, rank: int, number: int) -> bool:
        return self._mark(gate, rank, number, "reached").exists()

    def open(self, gate: str, rank: int, number: int) -> None:
        self._mark(gate, rank, number, "closed").unlink()

    def is_left(self, gate: str, rank: int, number: int) -> bool:
        return self._mark(gate, rank, number, "left").exists()

    def ended(self, rank: int) -> int:
        """Transfers."""
        marks = self.folder / f"done-{rank}"
        return marks.stat().st_size if marks.exists() else 0


def expected(ranks: int) -> bytes:
    """Of the file."""
    return b"".join(bytes([piece % 251]) * PIECE for piece in range(REGIONS * PIECES * ranks))
