"""`halcyon predict RUN`"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from halcyon.errors import UsageError

if TYPE_CHECKING:
    from halcyon.predict.scores import Prediction, Settings
    from halcyon.predict.streams import Streams

SUMMARY = "replay a run through the predictor, and say how good its forecasts would have been"
DESCRIPTION = (
    "Reads a run that `halcyon run --trace` recorded, a data set, or another tool's trace, and hands the calls of each "
    "thread to the predictor, one by one. Before each call it says what it expects: the place in the program, the "
    "file, offset, size, and time; these forecasts are scored, the learning phase included, beside those of naive "
    "predictors. It never knows more than it would have known then."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="RUN", type=Path, help="a recorded run, a data set, or another tool's trace")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        help="write there the figures as PNG, and the scores of every call as calls.parquet",
    )
    parser.add_argument(
        "--rank", metavar="N", type=int, action="append", help="only this rank, or process without MPI; several times"
    )
    parser.add_argument(
        "--process", metavar="N", type=int, action="append", help="only this process, by its number in the data set"
    )
    parser.add_argument(
        "--save-model",
        metavar="DIR",
        type=Path,
        help="keep there what each thread has learnt, for `halcyon grammar` and (first threads) `halcyon run --model`",
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")
    parser.add_argument(
        "--distinct-values",
        metavar="N",
        type=int,
        default=24,
        help="more distinct sizes or offset changes become statistics (default: %(default)s, at most 64); "
        "--predict-cut-off of halcyon run",
    )
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        default="4 MiB",
        help="bound of a thread's model (default: %(default)s); --predict-memory of halcyon run",
    )
    parser.add_argument(
        "--pause",
        metavar="MS",
        type=float,
        default=10,
        help="shorter pauses start no new phase (default: %(default)s ms); --predict-least-pause of halcyon run "
        "(seconds)",
    )


def run(arguments: argparse.Namespace) -> int:
    from halcyon.observe.open_run import open_run
    from halcyon.observe.recording.folder import say_of_newer_run
    from halcyon.predict.printed import print_prediction
    from halcyon.predict.streams import Streams
    from halcyon.printed.plain import as_json, plain

    settings = _settings(arguments)
    say_of_newer_run(arguments.path)
    with open_run(arguments.path) as dataset:
        streams = Streams(dataset, arguments.rank, arguments.process)
        _check_chosen(arguments, streams)
        prediction = replace(
            _replayed(streams, settings, arguments.output, arguments.save_model), directory=str(arguments.path)
        )
    if arguments.json:
        told = plain(prediction)
        if told["detail"]:
            del told["detail"]["figures"]  # thousands of points, which -o draws
        sys.stdout.write(as_json(told))
    else:
        print_prediction(prediction)
    return 0


def _settings(arguments: argparse.Namespace) -> "Settings":
    from halcyon.predict.scores import Settings
    from halcyon.quantities import parse_bytes

    memory = parse_bytes(arguments.memory, "--memory")
    if not 1 << 16 <= memory < 1 << 40:
        raise UsageError(f"--memory: {arguments.memory}; expected 64 KiB or more, below 1 TiB")
    if not 1 <= arguments.distinct_values <= 64:
        raise UsageError(f"--distinct-values: {arguments.distinct_values}; expected 1 to 64")
    if not 0 <= arguments.pause <= 1e9:
        raise UsageError(f"--pause: {arguments.pause}; expected 0 ms or more")
    return Settings(memory, arguments.distinct_values, round(arguments.pause * 1e6))


def _check_chosen(arguments: argparse.Namespace, streams: "Streams") -> None:
    """UsageError: a rank or process that the run does not have."""
    for what, asked, there in (
        ("rank", arguments.rank, streams.ranks),
        ("process", arguments.process, streams.processes),
    ):
        for number in asked or ():
            if number not in there:
                known = f"{there[0]} to {there[-1]}" if len(there) > 1 else f"{there[0]} alone" if there else "none"
                raise UsageError(f"--{what} {number}: the run has no such {what}; it has {known}")


def _replayed(streams: "Streams", settings: "Settings", output: Path | None, models: Path | None) -> "Prediction":
    from contextlib import ExitStack

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from halcyon.errors import HalcyonSystemError
    from halcyon.predict.pictures import draw
    from halcyon.predict.scored_calls import ScoredCalls
    from halcyon.predict.scores import predict
    from halcyon.predict.words import name_of

    console = Console(stderr=True)
    bars = (TextColumn("replaying calls"), BarColumn(), TimeRemainingColumn())
    with ExitStack() as stack:
        told = None
        for folder in (output, models):
            try:
                if folder is not None:
                    folder.mkdir(parents=True, exist_ok=True)
            except OSError as why:
                raise HalcyonSystemError.of(why, folder) from why
        if output is not None:
            told = stack.enter_context(ScoredCalls(output / "calls.parquet")).add
        progress = stack.enter_context(
            Progress(*bars, console=console, transient=True, disable=not console.is_terminal)
        )
        task = progress.add_task("", total=sum(stream.calls for stream in streams.all))
        prediction = predict(
            streams, settings, told=told, done=lambda calls: progress.advance(task, calls), models=models
        )
        if output is not None and prediction.detail is not None:
            detail = prediction.detail
            draw(detail.figures, name_of(detail.score.stream, streams.all), output)
    return prediction
