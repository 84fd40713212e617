"""Runs a command with its I/O recorded."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import HalcyonError, HalcyonSystemError
from halcyon.exit_status import Ended, ended_badly
from halcyon.layers.coordination import Coordination, say_how_turns_were_taken
from halcyon.layers.learnt import say_what_was_learnt
from halcyon.layers.logs import Logs
from halcyon.layers.preload import Prediction, Prefetching, variables
from halcyon.observe.recording.folder import (
    NO_PROCESS,
    Recording,
    drop_folder,
    new_folder,
    not_recorded,
    unrecorded_processes,
)
from halcyon.offload.server_world import run_alone, run_beside_world


def record(
    command: Sequence[str],
    layers: Sequence[str],
    folder: Path | None = None,
    buffer: str | None = None,
    local: Path | None = None,
    world_patience_s: float | None = None,
    contexts: bool = False,
    prediction: Prediction | None = None,
    prefetching: Prefetching | None = None,
    coordination: Coordination | None = None,
    logs: Logs | None = None,
) -> tuple[int, Path]:
    """Runs `command` with `layers` around its I/O calls; its exit code, and the folder with what was recorded.

    The folder of a command that fails before a process of it leaves anything there is removed, with a line that says
    so: else it would only take the name of the next run.

    `buffer`, `local` and `contexts`: see preload.variables. `world_patience_s`: with a server world beside it, see
    run_beside_world. UsageError: the folder is in use. UnavailableError: this installation lacks the library.
    HalcyonSystemError: the command cannot be started.
    """
    run = prepare(command, layers, folder, buffer, local, contexts, prediction, prefetching, coordination, logs)
    words = list(command)
    try:
        ended = (
            run_alone(words, run.variables)
            if world_patience_s is None
            else run_beside_world(words, world_patience_s, run.variables)
        )
    except HalcyonError:
        drop_folder(run.place, is_new=run.is_new)  # in the way of the next attempt
        raise
    finish(run.place, run.recording, ended, is_new=run.is_new)
    return ended.status, run.place


@dataclass(frozen=True)
class PreparedRun:
    """Of a command that is not started yet."""

    place: Path
    recording: Recording
    variables: dict[str, str]
    """Of the command's processes."""
    is_new: bool
    """The folder was not there before."""


def prepare(
    command: Sequence[str],
    layers: Sequence[str],
    folder: Path | None = None,
    buffer: str | None = None,
    local: Path | None = None,
    contexts: bool = False,
    prediction: Prediction | None = None,
    prefetching: Prefetching | None = None,
    coordination: Coordination | None = None,
    logs: Logs | None = None,
) -> PreparedRun:
    """Makes the folder of a run, and says what its processes need: see `record`."""
    words = list(command)
    of_layers = {name: value for one in (prediction, prefetching, coordination, logs) if one
                 for name, value in one.variables().items()}  # fmt: skip
    is_new = folder is None or not folder.exists()
    place = new_folder(folder, words)
    try:
        wanted = variables(list(layers), place / "trace", buffer, local, contexts) | of_layers
        recording = Recording.of(words, list(layers), time.time())
        recording.write(place)
    except HalcyonError:
        drop_folder(place, is_new=is_new)
        raise
    return PreparedRun(place, recording, wanted, is_new)


def finish(place: Path, recording: Recording, ended: Ended, *, is_new: bool) -> None:
    """Behind the command's end: says in the folder how it ended, or removes it where the command left nothing there."""
    if ended.status and _is_empty(place / "trace"):
        drop_folder(place, is_new=is_new)
        how = ended_badly(ended.status, ended.signal)
        print(f"halcyon: nothing was recorded: {how}; {place} is removed", file=sys.stderr)
        return
    recording.finish(ended)
    try:
        recording.write(place)
    except HalcyonSystemError as why:  # the command's end counts, not ours
        print(f"halcyon: {why}; how the command ended is not recorded", file=sys.stderr)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def say_what_was_recorded(place: Path, layers: Sequence[str], coordination: Coordination | None = None) -> None:
    """A line on standard error for each layer; none where the folder is removed."""
    if not place.exists():
        return
    if "predict" in layers or "prefetch" in layers:
        say_what_was_learnt(place / "trace")
    if "coordinate" in layers:
        say_how_turns_were_taken(place / "trace", coordination.coordinated if coordination else ())
    if "trace" in layers:
        _say_how_many_were_traced(place)
    elif "predict" in layers:
        print(f"halcyon: {place}: how much was learnt, and no calls; --trace keeps these, too", file=sys.stderr)


def _say_how_many_were_traced(place: Path) -> None:
    processes = len(list((place / "trace").glob("*.trace")))
    unrecorded = unrecorded_processes(place / "trace")
    not_all = not_recorded(unrecorded)
    if processes == 0 and unrecorded:
        print(f"halcyon: {place}: no process was recorded: {not_all}", file=sys.stderr)
        return
    if processes == 0:
        print(f"halcyon: {place}: {NO_PROCESS}", file=sys.stderr)
        return
    noun = "process" if processes == 1 else "processes"
    recorded = f"{processes} {noun} recorded" + (f"; {not_all}" if unrecorded else "")
    print(f"halcyon: {recorded}; now: halcyon report {place}", file=sys.stderr)
