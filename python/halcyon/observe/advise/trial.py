"""One run of the command under some settings, recorded and timed, and what speaks against believing its time."""

import errno
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import ConfigError, HalcyonSystemError, UsageError
from halcyon.exit_status import Ended
from halcyon.layers.preload import variables
from halcyon.mpi_launcher import is_launcher, launcher_of
from halcyon.observe.advise.mpiio_time import MpiIo, read_mpiio
from halcyon.observe.recording.folder import Recording, new_folder
from halcyon.offload.server_world import simulation_environment
from halcyon.process_session import end_session

OUTPUT = "output.txt"
"""What the command printed, in the folder of its run."""


@dataclass(frozen=True)
class Trial:
    """One run. `problem`: why it counts for nothing; None when all is well."""

    wall_s: float
    mpiio: MpiIo | None
    """None: nothing was recorded."""
    problem: str | None = None

    @property
    def mpiio_s(self) -> float | None:
        """Perceived time in MPI-IO's transfers; None: there were none."""
        return self.mpiio.perceived_s if self.mpiio and self.mpiio.perceived_s > 0 else None


@dataclass(frozen=True)
class Launch:
    """How the command is run, each time anew. `before`: a shell command that makes room for its output; it is not
    timed. `limit_s`: a run that takes longer is ended."""

    command: Sequence[str]
    before: str | None = None
    limit_s: float | None = None

    def run(
        self,
        folder: Path,
        settings: Mapping[str, str],
        *,
        keep: bool = False,
        prepare: Callable[[], None] | None = None,
    ) -> Trial:
        """Runs it once with these variables set; traces are removed unless `keep`. `prepare` comes after `before`.

        UsageError: `before` failed, or `folder` is in use. HalcyonSystemError: the command cannot be started.
        """
        self._make_room()
        if prepare is not None:
            prepare()
        try:
            return self._recorded(folder, settings, keep)
        except OSError as why:
            if why.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            return Trial(0, None, f"could not be recorded: {why}; make room, or name a folder elsewhere with -o")

    def _recorded(self, folder: Path, settings: Mapping[str, str], keep: bool) -> Trial:
        place = new_folder(folder, list(self.command))
        recording = Recording.of(list(self.command), ["trace"], time.time())
        recording.environment |= settings
        recording.write(place)
        code, wall_s = self._timed(place, dict(settings) | variables(["trace"], place / "trace", None, None))
        recording.finish(None if code is None else Ended.of(code))
        recording.write(place)
        trial = _judged(place, code, wall_s, self.limit_s)
        if not keep:
            shutil.rmtree(place / "trace")
        return trial

    def _make_room(self) -> None:
        if self.before is None:
            return
        done = subprocess.run(self.before, shell=True, check=False, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise UsageError(f"--before: `{self.before}` ended with {done.returncode}: {said or 'it said nothing'}")

    def _timed(self, place: Path, wanted: Mapping[str, str]) -> tuple[int | None, float]:
        """Its exit code (None: it was ended at the limit) and wall time."""
        command, environment = list(self.command), simulation_environment()
        if is_launcher(command[0]):
            command = launcher_of(command).setting(command, wanted)
        else:
            environment |= wanted
        with (place / OUTPUT).open("wb") as output:
            start = time.monotonic()
            try:
                process = subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as why:
                raise HalcyonSystemError.of(why, command[0]) from why
            code = _wait(process, self.limit_s)
            return code, time.monotonic() - start


def _wait(process: "subprocess.Popen[bytes]", limit_s: float | None) -> int | None:
    """Whatever ends the waiting, nothing of the command is left running."""
    code = None
    try:
        code = process.wait(limit_s)
        return code
    except subprocess.TimeoutExpired:
        return None
    finally:
        if code != 0:
            end_session(process)


def _judged(place: Path, code: int | None, wall_s: float, limit_s: float | None) -> Trial:
    said = _last_line(place / OUTPUT)
    if code is None:
        return Trial(wall_s, None, f"was ended after {limit_s:g} s (--limit)")
    if code < 0:
        return Trial(wall_s, None, f"was killed by {signal.Signals(-code).name}{said}")
    if code > 0:
        return Trial(wall_s, None, f"ended with exit code {code}{said}")
    try:
        found = read_mpiio(place)
    except ConfigError:  # no process was recorded: a static program
        return Trial(wall_s, None)
    if found.killed:
        return Trial(wall_s, found, f"lost {found.killed} of its processes: they were killed{said}")
    if found.lost:
        return Trial(wall_s, found, f"lost {found.lost:,} calls of its recording: no room on the disk")
    return Trial(wall_s, found)


def output_tail(folder: Path, lines: int = 12) -> str:
    """The end of what the command printed in the run of `folder`."""
    if not (folder / OUTPUT).exists():
        return " nothing"
    said = (folder / OUTPUT).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return "".join(f"\n  {line}" for line in said[-lines:]) or " nothing"


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"; it said last: {lines[-1].strip()}" if lines else ""
