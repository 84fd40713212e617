"""`halcyon advise RUN`, `halcyon advise --try -- COMMAND`, `halcyon advise --sweep -- COMMAND`"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SUMMARY = "suggest settings that make I/O faster, and try them"
DESCRIPTION = (
    "Says which MPI-IO hints and parameters of Open MPI the findings of a recorded run suggest, and how to set them "
    "without touching the application. With --try it runs a command with and without each of them, in rounds, and "
    "recommends what was faster for certain. With --sweep it searches for the best stripe count, stripe size, and "
    "number and buffer of aggregators within a budget."
)


_SWEEP_RUNS = 60
_INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells give it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--try", dest="trying", action="store_true", help="run COMMAND with and without each setting")
    way.add_argument("--sweep", action="store_true", help="search for the best striping and aggregators of COMMAND")
    parser.add_argument(
        "--setting",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="try this one in place of what a first run suggests; may be repeated; with commas between: together",
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=int,
        help=f"--try: rounds (default: what tells a difference from chance); --sweep: runs (default: {_SWEEP_RUNS})",
    )
    parser.add_argument("--seconds", metavar="S", type=float, help="--sweep: end after so long, if runs do not before")
    parser.add_argument(
        "--values",
        metavar="NAME=V,V…",
        action="append",
        default=[],
        help="--sweep: vary this over these values, and nothing that is not named; NAME: striping_factor, "
        "striping_unit, cb_nodes, cb_buffer_size",
    )
    parser.add_argument(
        "--stripe-with",
        metavar="SHELL",
        help="--sweep: sets the striping of new files before each run, such as 'lfs setstripe -c {count} -S {size} "
        "{dir}'; for file systems whose striping no hint reaches",
    )
    parser.add_argument(
        "--file-size",
        metavar="SIZE[/target|/aggregator]",
        help="--sweep: what {file_size} in COMMAND becomes: a constant, or so much for each target or aggregator",
    )
    parser.add_argument(
        "--before", metavar="SHELL", help="run before each run of COMMAND, such as 'rm -f out.h5'; it is not timed"
    )
    parser.add_argument("--limit", metavar="S", type=float, help="end a run of COMMAND that takes longer, in seconds")
    parser.add_argument("--wall", action="store_true", help="compare wall times, not the time in MPI-IO transfers")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        help="keep what was recorded and measured in this folder, which all nodes must see (--sweep: default "
        "sweep.halcyon)",
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")
    parser.add_argument("words", metavar="RUN | -- COMMAND", nargs="*", help="a recorded run or data set; what to run")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.errors import UsageError

    words: list[str] = arguments.words
    if arguments.runs is not None and arguments.runs < 1:
        raise UsageError(f"--runs {arguments.runs}; expected a whole number above 0")
    if arguments.sweep or arguments.trying:
        way = "--sweep" if arguments.sweep else "--try"
        if not words:
            raise UsageError(f"no command to run: halcyon advise {way} -- mpirun -n 4 ./simulation")
        return _measure(arguments, words)
    if len(words) != 1:
        raise UsageError(
            "expected one recorded run: halcyon advise RUN; or a command to try: halcyon advise --try -- COMMAND"
        )
    return _suggest(arguments, Path(words[0]))


def _suggest(arguments: argparse.Namespace, path: Path) -> int:
    from halcyon.observe.advise.report_text import print_advice
    from halcyon.observe.advise.suggestions import advise
    from halcyon.observe.analysis.answers import Answers
    from halcyon.observe.open_run import open_run
    from halcyon.observe.recording.folder import say_of_newer_run
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    say_of_newer_run(path)
    with open_run(path) as dataset:
        advice = advise(Answers(dataset))
    if arguments.json:
        print(as_json(advice), end="")
    else:
        print_advice(advice, console_for_tables())
    return 0


def _measure(arguments: argparse.Namespace, command: list[str]) -> int:
    import sys

    from halcyon.errors import HalcyonError, HalcyonSystemError
    from halcyon.process_session import ended_in_order

    with ended_in_order():
        try:
            return (_sweep if arguments.sweep else _try)(arguments, command)
        except KeyboardInterrupt:
            print("halcyon: interrupted in the first run: nothing was measured", file=sys.stderr)
            return _INTERRUPTED
        except HalcyonError:
            raise
        except OSError as why:  # of what is written here: a disk that is full
            raise HalcyonSystemError.of(why, why.filename or arguments.output or Path.cwd()) from why


def _try(arguments: argparse.Namespace, command: list[str]) -> int:
    from rich.console import Console

    from halcyon.observe.advise.report_text import print_reasons, print_results
    from halcyon.observe.advise.settings import parse_settings
    from halcyon.observe.advise.trial import Launch
    from halcyon.observe.advise.try_settings import try_settings
    from halcyon.observe.mpi_library import library_of
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    progress = Console(stderr=True, highlight=False)
    wanted = [parse_settings(text) for text in arguments.setting]
    with _folder(arguments.output) as folder:
        tried = try_settings(
            Launch(command, arguments.before, arguments.limit), wanted, folder,
            rounds=arguments.runs, by_wall=arguments.wall,
            tell=lambda text: progress.print(text, style="dim", markup=False, soft_wrap=True),
        )  # fmt: skip
        if arguments.output is not None:
            (folder / "results.json").write_text(as_json(tried), encoding="utf-8")
    if arguments.json:
        print(as_json(tried), end="")
        return _INTERRUPTED if tried.interrupted else 0
    console = console_for_tables()
    if tried.advice is not None:
        print_reasons(tried.advice, console)
    print_results(tried, library_of(tried.first.mpiio.library if tried.first.mpiio else None), console)
    return _INTERRUPTED if tried.interrupted else 0


def _sweep(arguments: argparse.Namespace, command: list[str]) -> int:
    from rich.console import Console

    from halcyon.observe.advise.sweep.file_size import FileSize
    from halcyon.observe.advise.sweep.report_text import print_sweep
    from halcyon.observe.advise.sweep.search import Budget
    from halcyon.observe.advise.sweep.space import Parameter
    from halcyon.observe.advise.sweep.striping import StripeCommand
    from halcyon.observe.advise.sweep.sweeping import record_of, sweep
    from halcyon.observe.advise.trial import Launch
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    progress = Console(stderr=True, highlight=False)
    values = tuple(Parameter.parse(text) for text in arguments.values)
    stripe = StripeCommand.parse(arguments.stripe_with) if arguments.stripe_with is not None else None
    file_size = FileSize.parse(arguments.file_size) if arguments.file_size is not None else None
    with _folder(arguments.output or Path("sweep.halcyon")) as folder:
        swept = sweep(
            Launch(command, arguments.before, arguments.limit),
            Budget(arguments.runs or _SWEEP_RUNS, arguments.seconds), folder,
            values=values, stripe=stripe, file_size=file_size,
            tell=lambda text: progress.print(text, style="dim", markup=False, soft_wrap=True),
        )  # fmt: skip
        found = as_json(record_of(swept))
        (folder / "results.json").write_text(found, encoding="utf-8")
    if arguments.json:
        print(found, end="")
    else:
        print_sweep(swept, console_for_tables())
    return _INTERRUPTED if swept.measured.interrupted else 0


@contextmanager
def _folder(wanted: Path | None) -> Iterator[Path]:
    """The user's, or one that goes away; in the working directory, which all nodes see."""
    import shutil
    import tempfile

    from halcyon.errors import HalcyonError, HalcyonSystemError, UsageError

    if wanted is None:
        try:
            made = tempfile.TemporaryDirectory(prefix=".halcyon-advise-", dir=Path.cwd())
        except OSError as why:
            raise HalcyonSystemError.of(why, Path.cwd()) from why
        with made as name:
            yield Path(name)
        return
    if wanted.exists() and any(wanted.iterdir()):
        raise UsageError(f"{wanted}: exists already; name a folder that does not, or remove it")
    try:
        wanted.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        raise HalcyonSystemError.of(why, wanted) from why
    try:
        yield wanted.resolve()
    except (HalcyonError, KeyboardInterrupt):
        # With one run or none in it, it would only be in the way of the next attempt.
        if len([entry for entry in wanted.iterdir() if entry.is_dir()]) < 2:
            shutil.rmtree(wanted, ignore_errors=True)
        raise
