"""`python -m halcyon.demo`, the main job: see docs/tutorial.md."""

import argparse
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text
from rich_argparse import RichHelpFormatter

from halcyon.demo.build_tree import find_build_tree
from halcyon.demo.calibration import TAKES
from halcyon.demo.model_run import Storm
from halcyon.errors import HalcyonError, UsageError
from halcyon.offload.data_files import HDF5
from halcyon.quantities import seconds

MARK = ".halcyon-demo"
QUICK = Storm(cells=(36, 36, 28), spacing_m=(1600, 620), step_s=9, phases=8, steps_per_phase=20)
BUDGET_S = 220.0  # of the rounds and the overload, together
FEWEST_PHASES = 6
TABLE_WIDTH = 110  # where no terminal has one


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="make demo, or python -m halcyon.demo",
        description="Runs a cloud model from the sounding of 22 May 2011 with three ways of output into limited "
        "storage, prints what each cost, and writes a report and a picture of the storm.",
        formatter_class=RichHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--rounds", type=int, help="how often each way of output runs (default: 2 or 3, by the time)")
    parser.add_argument("--quick", action="store_true", help="a small storm, one round: a look in about two minutes")
    parser.add_argument(
        "--output", metavar="DIR", type=Path, default=Path("demo-out"), help="replaced if an earlier demo made it"
    )
    return parser


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 all was run and written, 1 not, 2 the command line makes no sense, 130 after Ctrl-C."""
    arguments = build_parser().parse_args(argv)
    # Whatever ends it, everything is undone; also where a shell started it in the background, deaf to Ctrl-C.
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, _interrupt)
    try:
        if arguments.rounds is not None and arguments.rounds < 1:
            raise UsageError(f"--rounds {arguments.rounds}: expected at least 1")
        run_demo(arguments.output, arguments.rounds, arguments.quick)
    except HalcyonError as why:
        print(f"demo: {why}", file=sys.stderr)
        return 2 if isinstance(why, UsageError) else 1
    except KeyboardInterrupt:
        print("demo: interrupted; storage and processes are gone", file=sys.stderr)
        return 130
    return 0


def run_demo(output: Path, rounds: int | None, quick: bool) -> None:
    """The whole demo. What is heavy is imported before anything is measured."""
    from halcyon.demo.calibration import calibrate
    from halcyon.demo.comparison_rounds import CASES, SPARE_ROUNDS, compare
    from halcyon.demo.overload import POLICIES, overload
    from halcyon.demo.page import write_page
    from halcyon.demo.storm_picture import draw_storm
    from halcyon.demo.table_rows import comparison_rows, overload_rows
    from halcyon.demo.tables import print_rows
    from halcyon.demo.verdict import judge
    from halcyon.testbed.limited_storage import limited_storage

    begin = time.monotonic()
    tree = find_build_tree()
    _prepare(output)
    kept = output / "runs"
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, TABLE_WIDTH)
    overloaded = None
    with limited_storage(output) as storage, _progress(console) as (expect, step):
        pace = calibrate(tree, storage, QUICK if quick else Storm(), step)
        if not (rounds or quick):
            pace = replace(pace, storm=_affordable_storm(pace.storm, pace.compute_phase_s))
        storm = pace.storm
        console.print(_about(storm))
        times = rounds or (1 if quick else _affordable_rounds(storm, pace.compute_phase_s))
        expect(TAKES + (times + SPARE_ROUNDS) * len(CASES) + (len(POLICIES) + 1) * (storage.group is not None) + 1)
        compared, pace = compare(tree, storage, pace, times, kept, step)
        if storage.group is not None:
            overloaded = overload(tree, storage, pace, kept, output / "spill", step)
        verdict = judge(compared, overloaded, storage.why_plain)
        tables = [comparison_rows(compared), *([overload_rows(overloaded)] if overloaded is not None else [])]
        step("report and picture")
        report, picture = output / "report.html", output / "storm.png"
        write_page(verdict, tables, [compared.runs[case.name] for case in CASES[:-1]], report)
        view = compared.runs["halcyon-1"] / f"cloud{HDF5.view_endings[0]}"
        draw_storm(view, picture, storm.steps_per_phase * storm.step_s / 60)
    for sentence in verdict.sentences:
        console.print(Text(sentence, style="bold green" if verdict.met else "bold red"))
    for sentence in verdict.conditions:
        console.print(Text(sentence))
    for caution in verdict.cautions:
        console.print(Text(f"Caution: {caution}", style="yellow"))
    for rows in tables:
        print_rows(rows, console)
    console.print(f"report   {report}\npicture  {picture}\nview     {view}", soft_wrap=True)
    console.print(f"[dim]{seconds(time.monotonic() - begin)} in all[/]")


def _about(storm: Storm) -> str:
    nx, ny, nz = storm.cells
    minutes = storm.phases * storm.steps_per_phase * storm.step_s / 60
    return (
        f"[bold]A storm from the sounding of 22 May 2011[/]: {nx} × {ny} × {nz} cells, {minutes:.0f} minutes in "
        f"{storm.phases} output phases of {storm.bytes_per_phase / 1e6:.1f} MB, on two cores."
    )


def _affordable_rounds(storm: Storm, compute_s: float) -> int:
    """Two at least, or a control would have no spread; three where there is time."""
    return max(2, min(3, int((BUDGET_S - _overload_s(compute_s)) / _round_s(storm.phases, compute_s))))


def _affordable_storm(storm: Storm, compute_s: float) -> Storm:
    """Fewer phases where the machine is too slow, or too busy, for two rounds of all."""
    for phases in range(storm.phases, FEWEST_PHASES, -1):
        if 2 * _round_s(phases, compute_s) + _overload_s(compute_s) <= BUDGET_S:
            return replace(storm, phases=phases)
    return replace(storm, phases=FEWEST_PHASES)


def _round_s(phases: int, compute_s: float) -> float:
    rank_runs = 4 + 2  # with two ranks, and the one with one rank, which computes twice as long
    storing = 3 * 0.7  # two times file-per-process, and the collective file
    return phases * compute_s * (rank_runs + storing) + 5 * 2.0


def _overload_s(compute_s: float) -> float:
    return 5 * (8 * compute_s / 2 * 2.2 + 2.0)


def _prepare(output: Path) -> None:
    """An empty directory; only what an earlier demo made is deleted."""
    from halcyon.testbed.limited_storage import remove_leftovers

    if output.exists() and not (output / MARK).is_file() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output}: not made by an earlier demo, so it is not replaced; name another with --output")
    if output.exists():
        remove_leftovers(output)
        shutil.rmtree(output)
    output.mkdir(parents=True)
    (output / MARK).touch()


@contextmanager
def _progress(console: Console) -> Iterator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """`expect(steps)` and `step(what)`: a bar on a terminal, a line per step elsewhere."""
    columns = (TextColumn("{task.description:<44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, refresh_per_second=2, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=None, completed=-1)

        def expect(steps: int) -> None:
            progress.update(task, total=steps)

        def step(what: str) -> None:
            progress.update(task, advance=1, description=what)
            if not console.is_terminal:
                print(what, file=sys.stderr, flush=True)

        yield expect, step


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
