"""One run of the cloud model: prepared, started under MPI, waited for, ended whatever happens."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from halcyon.demo.build_tree import BuildTree
from halcyon.errors import HalcyonSystemError
from halcyon.testbed.limited_storage import Storage

LONGEST_RUN_S = 1800.0
SOUNDING = "20110522_OUN_12Z.txt"


@dataclass(frozen=True)
class Storm:
    """The problem: the same for every way of output."""

    cells: tuple[int, int, int] = (48, 48, 36)
    spacing_m: tuple[float, float] = (1250, 500)  # horizontal, vertical
    step_s: float = 7.5
    phases: int = 12
    steps_per_phase: int = 20

    @property
    def bytes_per_phase(self) -> int:
        """Eight fields of float32."""
        return 8 * 4 * self.cells[0] * self.cells[1] * self.cells[2]

    def words(self) -> dict[str, object]:
        """Settings of the model."""
        cells = dict(zip(("nx", "ny", "nz"), self.cells, strict=True))
        spacing = {"dx": self.spacing_m[0], "dy": self.spacing_m[0], "dz": self.spacing_m[1]}
        time = {"dt": self.step_s, "steps": self.phases * self.steps_per_phase, "output_every": self.steps_per_phase}
        return {**cells, **spacing, **time, "bubble_radius": 10000}


@dataclass(frozen=True)
class Case:
    """A way of output. `buffer` is what halcyon.yaml says under resources.buffer."""

    name: str
    title: str
    output: str
    ranks: int
    buffer: dict[str, Any] = field(default_factory=dict)


def run_case(tree: BuildTree, storage: Storage, storm: Storm, case: Case, name: str) -> Path:
    """Runs to the end and returns the directory of the run. HalcyonSystemError with the model's last words."""
    place = storage.directory / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "cloud.yaml").write_text(_configuration(tree, case))
    shutil.copy(tree.inputs / "soundings" / SOUNDING, place)
    # Names without folders: the model's settings hold 256 characters.
    files = {"sounding": SOUNDING, "halcyon_config": "cloud.yaml", "directory": "out"}
    settings = storm.words() | files | {"output": case.output, "sync": ".true."}
    words = ["--namelist", str(tree.inputs / "cloud.nml"), *(f"{key}={value}" for key, value in settings.items())]
    command = tree.command(case.ranks, *words)
    if storage.group is not None:
        join = 'echo $$ > "$0" && exec "$@"'
        command = ["sh", "-c", join, str(storage.group.members), *command]
    storage.settle()
    _run(command, place, tree.environment(), case.title)
    return place / "out"


def _configuration(tree: BuildTree, case: Case) -> str:
    """The model's own configuration, with files that are synced as those of the other ways of output are."""
    configuration = yaml.safe_load((tree.inputs / "cloud.yaml").read_text())
    configuration["stores"]["main"] |= {"durable": True, "existing": "replace"}
    configuration["resources"]["buffer"] |= case.buffer
    return yaml.safe_dump(configuration, sort_keys=False)


def _run(command: list[str], place: Path, environment: dict[str, str], title: str) -> None:
    log = place / "model.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(LONGEST_RUN_S)
        except subprocess.TimeoutExpired:
            raise HalcyonSystemError(f"{title}: did not end within {LONGEST_RUN_S:.0f} s; log: {log}") from None
        finally:
            _end(process)
    if status != 0:
        last = "\n  ".join(log.read_text(errors="replace").strip().splitlines()[-12:])
        raise HalcyonSystemError(f"{title}: the model ended with status {status}:\n  {last}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """After Ctrl-C or too long a run: mpirun ends its ranks when asked, and all that is left is killed."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
