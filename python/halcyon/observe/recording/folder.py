"""The folder of a recorded run: `recording.json`, `trace/` with a trace per process, and `data/`, the data set."""

import getpass
import json
import os
import platform
import re
import shutil
import sys
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from halcyon.errors import ConfigError, HalcyonError, HalcyonSystemError, UsageError
from halcyon.exit_status import Ended, ended_badly
from halcyon.mpi_launcher import program_of
from halcyon.observe.mpi_library import COMPONENT, OWN_MPIIO
from halcyon.quantities import plural
from halcyon.whole_file import whole_file
from halcyon.whole_text import read_whole_text

VERSION = 1
NAME = "recording.json"
DATA = "data"
"""The data set's folder within that of a recorded run."""
_MOST_RUNS = 9_999
"""Of one program, beside each other."""
NO_PROCESS = (
    "no process was recorded. Static programs and those that change their user (setuid) cannot be; neither can "
    "processes on nodes that do not see this folder"
)


@dataclass
class Recording:
    """What was run, as `recording.json` says it."""

    command: list[str]
    layers: list[str]
    start: float
    """Seconds of the epoch."""
    host: str
    user: str
    job: str | None
    """The batch system's name for it."""
    environment: dict[str, str]
    """Variables that change how MPI-IO and HDF5 do their I/O."""
    end: float | None = None
    exit_code: int | None = None
    exit_signal: int | None = None
    """That ended the command itself; see Ended."""
    version: int = VERSION

    @classmethod
    def of(cls, command: list[str], layers: list[str], start: float) -> Self:
        """Of a command that is about to be started here."""
        job = next((os.environ[v] for v in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID") if v in os.environ), None)
        telling = {name: value for name, value in os.environ.items() if _changes_io(name)}
        return cls(command, layers, start, platform.node(), getpass.getuser(), job, telling)

    def finish(self, ended: Ended | None) -> None:
        """The command has ended; None: it was ended from here."""
        self.end = time.time()
        self.exit_code, self.exit_signal = (ended.status, ended.signal) if ended is not None else (None, None)

    def write(self, folder: Path) -> None:
        """Replaces `recording.json` by rename."""
        with whole_file(folder / NAME) as hidden:
            hidden.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Of a recorded run. UsageError: `folder` is none. ConfigError: what it says cannot be read."""
        path = folder / NAME
        try:
            content: Any = json.loads(read_whole_text(path))
        except FileNotFoundError as why:
            raise UsageError(
                f"{folder}: no recorded run: it has no {NAME}. Record one: halcyon run --trace -- COMMAND"
            ) from why
        except OSError as why:
            raise HalcyonSystemError.of(why, path) from why
        except (json.JSONDecodeError, UnicodeDecodeError) as why:
            raise ConfigError(f"{path}: not JSON: {why}") from why
        if not isinstance(content, dict) or not isinstance(content.get("version"), int):
            raise ConfigError(f"{path}: version: missing; expected {VERSION}")
        if content["version"] > VERSION:
            raise ConfigError(f"{path}: version: {content['version']}; this release reads up to {VERSION}")
        names = {field.name for field in fields(cls)}
        if unknown := content.keys() - names:
            raise ConfigError(f"{path}: {min(unknown)}: no recording has such a key")
        try:
            read = cls(**content)
        except TypeError as why:  # it says which are missing
            raise ConfigError(f"{path}: keys are missing: {why}") from why
        read._check(path)
        return read

    def why_no_traces(self) -> str:
        """Why the folder has none, as far as this says it."""
        if "trace" not in self.layers:
            layers = " and ".join(f"--{layer}" for layer in self.layers)
            return f"nothing was recorded: the run was made with {layers}, without --trace, which records its calls"
        if self.end is None:
            return "nothing was recorded: `halcyon run` has not ended yet, or was killed"
        ended = ended_badly(self.exit_code, self.exit_signal)
        return f"nothing was recorded: {ended}" if ended else NO_PROCESS

    def _check(self, path: Path) -> None:
        """ConfigError: a value is of a kind that no recording writes."""
        right = {
            "command": _are_words(self.command),
            "layers": _are_words(self.layers),
            "start": type(self.start) in (int, float),
            "host": type(self.host) is str,
            "user": type(self.user) is str,
            "job": self.job is None or type(self.job) is str,
            "environment": isinstance(self.environment, dict) and _are_words([*self.environment.values()]),
        }
        for name, is_right in right.items():
            if not is_right:
                raise ConfigError(f"{path}: {name}: {getattr(self, name)!r}; no recording writes such a value")


def _are_words(value: object) -> bool:
    return isinstance(value, list) and all(type(word) is str for word in value)


def _changes_io(name: str) -> bool:
    return name.startswith(("ROMIO_", COMPONENT, *OWN_MPIIO, "MPICH_MPIIO", "HDF5_", "PNETCDF_"))


def new_folder(wanted: Path | None, command: list[str]) -> Path:
    """Makes the folder of a run; by default `<program>.halcyon`, or with a number where that exists."""
    if wanted is not None and wanted.exists() and any(wanted.iterdir()):
        raise UsageError(f"{wanted}: exists already; name a folder that does not, or remove it")
    place = wanted or _first_free(Path(program_of(command)).name)
    try:
        (place / "trace").mkdir(parents=True)
    except OSError as why:
        raise HalcyonSystemError.of(why, place) from why
    return place.resolve()


def _first_free(stem: str) -> Path:
    """Makes a folder. Other runs may look for a name at the same time: whoever makes the folder has the name."""
    for n in range(1, _MOST_RUNS + 1):
        place = Path(f"{stem}.halcyon" if n == 1 else f"{stem}.{n}.halcyon")
        try:
            place.mkdir()
        except FileExistsError:
            continue
        except OSError as why:
            failed = HalcyonSystemError.of(why, place)
            failed.message += f" ({Path.cwd()}); name a folder elsewhere: -o DIR, of srun --halcyon-output=DIR"
            raise failed from why
        return place
    raise UsageError(f"{stem}.{_MOST_RUNS}.halcyon: exists already, like all names before it; remove some, or name one")


def drop_folder(place: Path, *, is_new: bool) -> None:
    """Takes back what new_folder and Recording.write made; `is_new`: the folder was not there before."""
    if is_new:
        shutil.rmtree(place, ignore_errors=True)
        return
    shutil.rmtree(place / "trace", ignore_errors=True)
    (place / NAME).unlink(missing_ok=True)


def why_nothing_is_in(folder: Path) -> str | None:
    """Why the folder of a run has neither traces, here or on other nodes, nor a data set.

    None: it has some, or is none of a recorded run.
    """
    if (folder / DATA).exists() or any(any((folder / "trace").glob(kind)) for kind in ("*.trace", "*.local")):
        return None
    try:
        return Recording.read(folder).why_no_traces()
    except HalcyonError:
        return None


def newer_run(path: Path) -> Path | None:
    """The last run of the same program beside `path`, where new_folder gave both their names; None: `path` is it."""
    own = run_of(path).absolute()
    named = _named_after(own)
    if named is None:
        return None
    beside = [(each, _named_after(each)) for each in sorted(own.parent.glob("*.halcyon"))]
    later = [(of[1], each) for each, of in beside if of is not None and of[0] == named[0] and of[1] > named[1]]
    return run_of(path).parent / max(later)[1].name if later else None


def _named_after(folder: Path) -> tuple[str, float] | None:
    """The program whose name new_folder gave to `folder`, and when it was started; None: it has another name."""
    try:
        recording = Recording.read(folder)
    except HalcyonError:
        return None
    words = {Path(word).name for word in recording.command}
    names = [folder.name.removesuffix(".halcyon"), re.sub(r"\.\d+\.halcyon$", "", folder.name)]
    return next(((name, recording.start) for name in names if name in words), None)


def say_of_newer_run(path: Path) -> None:
    """On standard error, where the run that `path` names is not the last one of its program."""
    if (newest := newer_run(path)) is not None:
        print(f"halcyon: {path} is not the last run: {newest} is newer", file=sys.stderr)


def run_of(data: Path) -> Path:
    """The folder by which users know a data set: that of the recorded run it lies in, or its own."""
    return data.parent if data.name == DATA and (data.parent / NAME).is_file() else data


def unrecorded_processes(traces: Path) -> int:
    """How many processes say in a run's folder `trace` that they could not be recorded."""
    return sum(1 for _ in traces.glob("*.unrecorded"))


def not_recorded(processes: int) -> str:
    """What is said of processes that say so themselves."""
    return f"{plural(processes, 'process')} could not be recorded, and said why"
