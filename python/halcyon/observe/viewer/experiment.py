"""The page of several runs: a grid of pictures of how evenly their ranks wrote, over what differs between the runs."""

from dataclasses import replace
from pathlib import Path

from halcyon.errors import UsageError
from halcyon.observe.analysis.machine import Machine, differing, variability_grid
from halcyon.observe.analysis.run_load import RunLoad
from halcyon.observe.viewer import document as d
from halcyon.observe.viewer.page import write_page

PHASES = 5_000
"""Of all runs together: about 5 MB of the page."""


def render_experiment(
    machine: Machine, title: str, output: Path, *, row: str | None = None, column: str | None = None
) -> int:
    """Writes the page of several runs and returns its size in bytes. `row`, `column`: parameters to begin with.

    UsageError: no run could be read, or no such parameter differs among them. Other errors: see write_page.
    """
    return write_page(experiment_of(machine, title, row=row, column=column), None, output)


def experiment_of(machine: Machine, title: str, *, row: str | None = None, column: str | None = None) -> d.Document:
    """The document of several runs. Errors: see render_experiment."""
    if not machine.runs:
        why = "; ".join(f"{one.name}: {one.why}" for one in machine.unread)
        raise UsageError(f"{title}: none of these runs can be read: {why}")
    grid = variability_grid(machine, row, column)
    parameters = differing(machine)
    most = max(PHASES // len(machine.runs), 1)
    experiment = d.Experiment(
        parameters=parameters,
        row=grid.row_parameter or None if grid else None,
        column=grid.column_parameter if grid else None,
        runs=[_run(run, parameters, most) for run in machine.runs],
        unread=machine.unread,
    )
    return replace(d.Document(_summary(machine, title)), experiment=experiment)


def _run(run: RunLoad, parameters: list[str], most: int) -> d.ExperimentRun:
    process_s = run.duration_s * run.ranks
    return d.ExperimentRun(
        name=run.name,
        user=run.user,
        program=run.program,
        start_epoch_s=run.start,
        duration_s=run.duration_s,
        ranks=run.ranks,
        bytes_written=run.bytes_written,
        bytes_read=run.bytes_read,
        io_share=run.io_s / process_s if process_s else None,
        write_throughput=run.write_throughput,
        parameters={name: run.parameters[name] for name in parameters},
        phases=sorted(sorted(run.phases, key=lambda one: -one.bytes)[:most], key=lambda one: one.number),
    )


def _summary(machine: Machine, title: str) -> d.Run:
    return d.Run(
        title=title,
        source=f"{len(machine.runs)} runs",
        command=None,
        user=None,
        job=None,
        start_epoch_s=min((run.start for run in machine.runs if run.start is not None), default=None),
        duration_s=None,
        ranks=None,
        processes=sum(run.ranks for run in machine.runs),
        hosts=None,
        files=0,
        calls=sum(run.calls or 0 for run in machine.runs),
    )
