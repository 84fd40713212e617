"""Starts the scenario program under an MPI launcher and reads what it left, for the tests of this folder."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import zarr

from halcyon.offload.data_files import HDF5, Format

ROOT = Path(__file__).resolve().parents[4]
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "mpich": ["mpirun.mpich"],
}
# What `pytest --build` chose, or these. Tests look here when they run, not when they are imported.
BUILDS = {"openmpi": ROOT / "build/release", "mpich": ROOT / "build/mpich"}

RUN_OF = "TEST_RUN_OF"
"""In the environment of every process of a run: whose it is."""

CONFIGURATION = """\
halcyon: 1
simulation: tiny
{top}
parameters: {{nz: {nz}, ny: 8, nx: 16, n: {{value: 0, mutable: true, max: 4096}}}}
data:
  layouts:
    grid: {{type: float32, dimensions: [nz, ny, nx]}}
  places:
    whole: {{global: [nz, ny, nx * size], offset: [0, 0, rank * nx]}}
  variables:
{variables}
{events}
stores:
  main: {{type: {type}, path: out{store}}}
resources:
{resources}
  buffer: {{size: {size}{buffer}}}
  server: {{{server}}}
"""


def available_mpis() -> list[str]:
    """The launchers that are installed and have a build of the scenario program."""
    built = [m for m in LAUNCHERS if (BUILDS[m] / "tests/scenario").exists()]
    return [m for m in built if shutil.which(LAUNCHERS[m][0])]


@dataclass
class Case:
    """One run: its configuration, what it printed, what it left."""

    directory: Path
    mpi: str = "openmpi"
    ranks: int = 2
    variables: tuple[str, ...] = ("theta",)
    launcher: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    """Of its processes, besides what they have anyway."""
    inside: list[str] = field(default_factory=list)
    """What each rank is started by, in place of the launcher."""
    format: Format = HDF5
    """Of its store."""

    def configure(self, **parts: str) -> None:
        attributes = parts.pop("attributes", "")
        lines = "\n".join(f"    {v}: {{layout: grid, place: whole, unit: K{attributes}}}" for v in self.variables)
        values = {"top": "", "resources": "", "nz": "4", "events": "", "store": "", "size": "16 MiB", "buffer": ""}
        values["server"] = "threads: 1"
        text = CONFIGURATION.format(**(values | parts), variables=lines, type=self.format.store_type)
        (self.directory / "halcyon.yaml").write_text(text)

    def preload_into_servers(self, library: str, **environment: str) -> None:
        """Servers of its runs are started with a library of tests/offload/session."""
        build = BUILDS[self.mpi]
        settings = " ".join(f"{name}={value}" for name, value in environment.items())
        preloaded = f"LD_PRELOAD={build}/tests/lib{library}.so {settings}"
        self.start_servers_by(f'#!/bin/sh\n{preloaded} exec {build}/bin/halcyon-server "$@"\n')

    def start_servers_by(self, script: str) -> Path:
        """Its runs start this in place of halcyon-server."""
        program = self.directory / "server"
        program.write_text(script)
        program.chmod(0o755)
        self.environment["HALCYON_SERVER"] = str(program)
        return program

    def command(self, *options: str) -> list[str]:
        program = str(BUILDS[self.mpi] / "tests/scenario")
        names = "variables=" + ",".join(self.variables)
        return [
            *(self.launcher or LAUNCHERS[self.mpi]),
            "-n",
            str(self.ranks),
            *self.inside,
            program,
            "halcyon.yaml",
            names,
            *options,
        ]

    def start(self, *options: str) -> "subprocess.Popen[str]":
        own = {"HALCYON_MODULE_PATH": str(BUILDS[self.mpi] / "lib"), RUN_OF: str(self.directory)}
        environment = os.environ | own | self.environment
        return subprocess.Popen(
            self.command(*options),
            cwd=self.directory,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *options: str, limit_s: float = 60) -> "Outcome":
        return finish(self.start(*options), limit_s)

    def gates(self, *iterations: int) -> str:
        """Option of a run that stops before each of these iterations (of as many as it has: before its close)."""
        return "gates=" + ",".join(map(str, iterations))

    def open_gate(self, iteration: int) -> None:
        (self.directory / f"gate-{iteration}").touch()

    def wait_at_gate(self, iteration: int, writer: str = "n0000") -> None:
        """Until the run stands at this gate and all that came before it is stored, one file an iteration."""
        last = self.data_file(iteration - 1, writer)
        wait_for(last.exists, what=f"{last.name} is stored")

    @property
    def output(self) -> Path:
        return self.directory / "out"

    def data_file(self, iteration: int, writer: str = "n0000") -> Path:
        """That of the iterations from this one on."""
        return self.output / f"tiny.{writer}.i{iteration:08d}{self.format.ending}"

    def data_files(self, writers: str = "[nc]*") -> list[Path]:
        """What these writers (a pattern) published."""
        return sorted(self.output.glob(f"tiny.{writers}.i*{self.format.ending}"))

    def counts(self, writer: str = "n0000") -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.output / f"counts-{writer}.json").read_text())
        return loaded

    def blocks(self) -> dict[tuple[str, int, int], np.ndarray]:
        """(variable, iteration, domain) → block, over all published files."""
        found: dict[tuple[str, int, int], np.ndarray] = {}
        for path in self.data_files():
            with _opened(path) as f:
                numbers = [int(i) for i in f[".halcyon/iterations"][...]]
                for name in self.variables:
                    if name not in f:
                        continue
                    for domain, data in f[name].items() if path.is_file() else f[name].arrays():
                        for row, number in enumerate(numbers):
                            if row < data.shape[0] and not np.isnan(data[row]).all():
                                found[name, number, int(domain[1:])] = data[row]
        return found

    def server_process(self, writer: str = "n0000") -> int:
        """Process id of the newest server of a node, from its log."""
        log = (self.output / f"server-{writer}.log").read_text()
        return int(log.rsplit(", process ", 1)[1].split(",")[0])


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A data file by the library of its format, with nothing of Halcyon's readers."""
    if path.is_dir():
        yield zarr.open_group(path, mode="r")
        return
    with h5py.File(path) as file:
        yield file


@dataclass
class Outcome:
    status: int
    seconds: float
    ranks: dict[int, dict[str, Any]]
    text: str


def finish(process: "subprocess.Popen[str]", limit_s: float = 60) -> Outcome:
    begin = time.monotonic()
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"the run did not end within {limit_s} s:\n{out}\n{err}") from None
    ranks = {}
    for line in out.splitlines():
        if line.startswith("{"):
            told = json.loads(line)
            ranks[told["rank"]] = told
    return Outcome(process.returncode, time.monotonic() - begin, ranks, out + err)


def wait_for(condition: Callable[[], Any], limit_s: float = 20, what: str = "") -> Any:
    """Polls until `condition` gives something true; an AssertionError after the limit."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.005)
    raise AssertionError(f"not within {limit_s} s: {what}")


def is_gone(pid: int) -> bool:
    """True once the process has ended, with all of its threads (a zombie that nobody reaps counts as ended)."""
    try:
        others = len(list(Path(f"/proc/{pid}/task").iterdir())) > 1
    except (FileNotFoundError, ProcessLookupError):
        return True
    return not others and state_of(pid) in "ZX"


def state_of(pid: int) -> str:
    """The letter of proc(5), X for a process that is not there."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def processes_of(run: "subprocess.Popen[str]") -> list[int]:
    """Process ids of the simulation's ranks, whatever processes the launcher puts in between."""
    waiting, found = [run.pid], []
    while waiting:
        pid = waiting.pop()
        if Path(f"/proc/{pid}/comm").read_text().strip() == "scenario":
            found.append(pid)
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            waiting += map(int, children.read_text().split())
    return sorted(found)


def living_servers_of(case: Case) -> list[int]:
    """Servers that runs of this case have started, whether they got as far as a log or not."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            mark = f"{RUN_OF}={case.directory}".encode()
            named = (process / "comm").read_text().strip() == "halcyon-server"
            if named and mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def stop_server(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@contextmanager
def stopped_server(case: Case, writer: str = "n0000") -> Iterator[int]:
    """The server of a node stands still in this block, which it may not survive; the block gets its process id."""
    pid = case.server_process(writer)
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_for(lambda: state_of(pid) in "Tt", what="the server stands still")  # t: under a tracer
        yield pid
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def expected_block(name: str, iteration: int, rank: int, shape: tuple[int, ...]) -> np.ndarray:
    """What the scenario program writes."""
    base = np.float32(1000 * iteration + 10 * rank + 0.25 * len(name.encode()))
    return (base + (np.arange(np.prod(shape)) % 7).astype(np.float32)).reshape(shape)


def check_complete(case: Case, iterations: int, ranks: int | None = None) -> None:
    """Every block of every variable, iteration and rank is there with its value."""
    blocks = case.blocks()
    wanted = [(n, i, r) for n in case.variables for i in range(iterations) for r in range(ranks or case.ranks)]
    missing = [w for w in wanted if w not in blocks]
    assert not missing, f"{len(missing)} of {len(wanted)} blocks are missing, the first: {missing[:5]}"
    for name, iteration, rank in wanted:
        block = blocks[name, iteration, rank]
        np.testing.assert_array_equal(block, expected_block(name, iteration, rank, block.shape))


def shared_memory_of_halcyon() -> set[str]:
    """Anything of ours that has a name and could be left behind."""
    return {p.name for p in Path("/dev/shm").iterdir() if "halcyon" in p.name}
