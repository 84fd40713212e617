"""From a command to the swept space: a first run says what can be varied, the search measures, files keep it all."""

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from halcyon.errors import UsageError
from halcyon.observe.advise.run_facts import run_facts
from halcyon.observe.advise.settings import Setting
from halcyon.observe.advise.sweep.choice import Choice, choose
from halcyon.observe.advise.sweep.command import CommandMachine, Reach, check_swept, reach
from halcyon.observe.advise.sweep.figures import draw
from halcyon.observe.advise.sweep.file_size import FileSize, with_size
from halcyon.observe.advise.sweep.search import Budget, Gain, Measured, search
from halcyon.observe.advise.sweep.space import Parameter, Point
from halcyon.observe.advise.sweep.striping import StripeCommand
from halcyon.observe.advise.trial import Launch
from halcyon.observe.advise.try_settings import FIRST, failed_as_it_is
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.mpi_library import Library
from halcyon.observe.open_run import open_run
from halcyon.quantities import rate

MEASUREMENTS = "measurements.csv"
"""A line per run, written as it ends."""


@dataclass(frozen=True)
class Swept:
    """What a sweep found."""

    reach: Reach
    measured: Measured
    choice: Choice
    settings: dict[Point, tuple[Setting, ...]]
    """Of the start and of both chosen points."""
    library: Library
    problems: list[str]
    figures: list[Path]


@dataclass(frozen=True)
class PointResult:
    """All good runs at one point."""

    values: dict[str, int]
    bytes_per_s: list[float]


@dataclass(frozen=True)
class SweepRecord:
    """A sweep for machines: `results.json`."""

    start: PointResult
    fastest: PointResult
    frugal: PointResult
    faster_for_certain: bool
    """The frugal one than the start."""
    gain: Gain | None
    """Of the frugal one over the start; None: too few runs, or it is the start."""
    interrupted: bool
    points: list[PointResult]
    left_out: list[str]
    problems: list[str]
    figures: list[Path]


def record_of(swept: Swept) -> SweepRecord:
    """What print_sweep says, and every measurement."""
    measured, choice = swept.measured, swept.choice

    def result(point: Point) -> PointResult:
        return PointResult(dict(point), measured.values.get(point, []))

    return SweepRecord(
        start=result(measured.start),
        fastest=result(choice.best),
        frugal=result(choice.frugal),
        faster_for_certain=choice.frugal != measured.start and measured.faster(choice.frugal),
        gain=measured.gain(choice.frugal),
        interrupted=measured.interrupted,
        points=[result(point) for point in measured.values],
        left_out=swept.reach.left_out,
        problems=swept.problems,
        figures=swept.figures,
    )


def sweep(
    launch: Launch,
    budget: Budget,
    folder: Path,
    *,
    values: tuple[Parameter, ...] = (),
    stripe: StripeCommand | None = None,
    file_size: FileSize | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Swept:
    """Runs the command within the budget (and once before), in `folder`. `stripe`: how the user has striping set;
    `file_size`: what the command's `{file_size}` becomes. An interrupt (SIGINT) ends it; what was measured stays.

    UsageError: the command fails as it is, nothing that can be varied reaches it, or no run of it succeeded.
    """
    if file_size is not None:
        file_size.check(launch.command, [])
    command = list(launch.command) if file_size is None else with_size(launch.command, file_size.bytes)
    first = replace(launch, command=command).run(folder / FIRST, {}, keep=True)
    if first.problem is not None:
        raise UsageError(failed_as_it_is(first, folder / FIRST))
    with open_run(folder / FIRST) as dataset:
        facts = run_facts(Answers(dataset))
    check_swept(facts)
    reached = reach(facts, values, stripe)
    if file_size is not None:
        file_size.check(launch.command, [one.name for one in reached.space.parameters])
    for sentence in reached.left_out:
        tell(f"left out: {sentence}")
    machine = CommandMachine(launch, facts, reached, folder, first.mpiio.bytes if first.mpiio else 0, file_size)
    with (folder / MEASUREMENTS).open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["run", *(one.name for one in reached.space.parameters), "bytes_per_s"])

        def keep(run: int, point: Point, value: float | None) -> None:
            lines.writerow([run, *(value for _, value in point), "" if value is None else f"{value:.0f}"])
            file.flush()
            said = rate(value) if value is not None else machine.problems[-1]
            tell(f"run {run}, {reached.space.show(point)}: {said}")

        measured = search(reached.space, reached.start, machine, budget, tell=keep)
    choice = choose(measured)
    chosen = {point: machine.settings(point) for point in (measured.start, choice.best, choice.frugal)}
    figures = draw(measured, choice, folder)
    return Swept(reached, measured, choice, chosen, facts.library, machine.problems, figures)
