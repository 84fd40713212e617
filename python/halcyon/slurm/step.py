"""A step of srun that runs with layers: what its plugin asks at the begin and at the end."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from halcyon.coordinate.configuration import VARIABLE
from halcyon.errors import UsageError
from halcyon.exit_status import Ended
from halcyon.layers.coordination import Coordination
from halcyon.layers.job import Job
from halcyon.layers.preload import with_needed
from halcyon.layers.record import PreparedRun, finish, prepare, say_what_was_recorded
from halcyon.observe.recording.folder import Recording
from halcyon.offload.server_world import simulation_environment

_WAY_OUT = "name one: HALCYON_COORDINATORS_FILE, or for all users `halcyon slurm install --coordinators FILE`"
"""srun has no --coordinator."""


def prepare_step(
    layers: Sequence[str], command: Sequence[str], output: Path | None = None, coordinators: Path | None = None
) -> PreparedRun:
    """The same as `halcyon run` with these layers would do before it starts `command`. `coordinators`: the file of this
    installation of the plugin; the user's variable comes first. Errors: as there."""
    if not command:
        raise UsageError("no command: halcyon slurm prepare --layers trace -- ./simulation")
    wanted = with_needed(layers)
    file = None if os.environ.get(VARIABLE) else coordinators
    coordination = Coordination(file=file, job=Job.given(), way_out=_WAY_OUT) if "coordinate" in wanted else None
    run = prepare(command, wanted, output, coordination=coordination)
    around = {name: value for name, value in simulation_environment().items() if name not in os.environ}
    return replace(run, variables=around | run.variables)


def as_answer(run: PreparedRun) -> bytes:
    """As the plugin reads it: the folder, then `NAME=VALUE`, each ended by a zero byte."""
    entries = [str(run.place), *(f"{name}={value}" for name, value in run.variables.items())]
    return b"".join(entry.encode(errors="surrogateescape") + b"\0" for entry in entries)


def finish_step(place: Path, status: int) -> None:
    """The same as `halcyon run` does behind the command's end. UsageError: the folder is that of no run."""
    recording = Recording.read(place)
    finish(place, recording, Ended(status, None), is_new=False)
    if not any(place.iterdir()):
        place.rmdir()
    say_what_was_recorded(place, recording.layers)
