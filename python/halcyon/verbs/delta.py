"""`halcyon delta`"""

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from halcyon.errors import UsageError
from halcyon.quantities import plural
from halcyon.verbs.model.option_types import above_zero, count, duration, percent, share, size, time_above_zero
from halcyon.verbs.two_commands import two_commands

if TYPE_CHECKING:
    from halcyon.delta.commands import Place
    from halcyon.delta.data_file import DataFile
    from halcyon.delta.delays import Delays
    from halcyon.delta.measuring import Progress, Wanted
    from halcyon.delta.runs import Key, Setup
    from halcyon.testbed.bed import Bed

SUMMARY = "measure what two commands cost each other, by the delay between their I/O, under each policy"
DESCRIPTION = (
    "Measures a Δ-graph (Dorier 2014, section 6.1.2). Every process of A and B is held at its first I/O below --path; "
    "then A goes on, and B after each of several delays, or before A where the delay is negative. Under a policy, a "
    "coordinator of the command's own gives both commands turns; 'none' lets them run uncoordinated. Each run is "
    "written to --data as it ends: the same command line goes on where it was ended. Without commands, --data is "
    "printed and drawn. The exit code is 1 where a point is not known as well as wanted."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "halcyon delta --path DIR [options] -- A … -- B …\n       halcyon delta --data FILE [-o PICTURE]"
    # So that an option may be followed by a negative delay with a unit, such as -0.5TA.
    parser._negative_number_matcher = re.compile(r"-[\d.]")
    _add_commands(parser)
    _add_delays(parser)
    _add_accuracy(parser)
    expected = parser.add_argument_group("the expected curves").add_argument
    for name in ("a", "b"):
        who = name.upper()
        expected(f"--{name}-cores", metavar="N", type=count, help=f"cores of {who} (default: its processes in I/O)")
        expected(f"--{name}-weight", metavar="W", type=above_zero,
                 help=f"bandwidth that {who} gets in relation to the other's weight (default: its cores)")  # fmt: skip
        expected(f"--{name}-demand", metavar="SHARE", type=share, default=1.0,
                 help=f"of the storage's bandwidth that {who} takes alone (default: 1)")  # fmt: skip
    add = parser.add_argument_group("results").add_argument
    add("--data", metavar="FILE", type=Path, default=Path("delta.jsonl"), help="runs (default: %(default)s)")
    add("-o", "--output", metavar="PICTURE", type=Path, help="draw the Δ-graph into this file, .svg or .png")
    add("--json", action="store_true", help="print everything for machines, in SI units")
    parser.add_argument("commands", metavar="COMMAND", nargs="*", help="A, --, and B, after --")


def _add_commands(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the commands").add_argument
    add("--path", metavar="DIR", help="I/O below it counts, is held, and takes turns (default: writes anywhere, of "
        "policy none alone; on a test bed: its file system)")  # fmt: skip
    add("--a-on", metavar="HOST,…", help="on a test bed: hosts on each of which A is started, such as c1,c2,c3")
    add("--b-on", metavar="HOST,…", help="on a test bed: hosts of B")
    for name in ("a", "b"):
        add(f"--{name}-arrive", metavar="N", type=count, default=1,
            help=f"processes of {name.upper()} that must be at their first I/O before any goes on; those that come "
            "within 0.25 s of the last one, too (default: 1)")  # fmt: skip
    add("--place", metavar="FILE=HOST", action="append", default=[],
        help="on a test bed: make FILE anew before each run, on this storage host; may be repeated")  # fmt: skip
    add("--before", metavar="COMMAND", help="shell command before each run, such as one that removes the files")
    add("--arrive-within", metavar="TIME", type=time_above_zero, default=60.0,
        help="a command that has done no I/O by then is reported (default: 60s)")  # fmt: skip
    add("--limit", metavar="TIME", type=time_above_zero, default=600.0,
        help="a run that takes longer is reported (default: 10min)")  # fmt: skip


def _add_delays(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("delays and policies").add_argument
    add("--dt", metavar="DELAY,…", help="delays of B after A: 0,1.5s,-2s, or in units of A's time alone: 0.5TA")
    add("--from", metavar="DELAY", dest="first", help="the first delay (default: B ends before A starts)")
    add("--to", metavar="DELAY", dest="last", help="the last delay (default: A ends before B starts)")
    add("--steps", metavar="N", type=count, default=9, help="delays from the first to the last (default: 9)")
    add("--policy", metavar="NAME,…", default="none",
        help="none: uncoordinated; else as in coordinators.yaml, such as fcfs; an unknown name lists all (default: "
        "none)")  # fmt: skip
    add("--metric", metavar="NAME", help="what `dynamic` makes least, as in coordinators.yaml; an unknown name lists "
        "all (default: the coordinator's)")  # fmt: skip
    add("--bandwidth", metavar="SIZE", type=size, help="bytes a second that the servers of the file system move "
        "together, as in coordinators.yaml: by it, `dynamic` and `delay` know commands that do not use it up alone "
        "(default: each does)")  # fmt: skip


def _add_accuracy(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("repetitions").add_argument
    add("--repeat", metavar="N", type=count, default=3, help="runs of each point (default: 3)")
    add("--most", metavar="N", type=count, default=15, help="runs of a point whose interval is wide (default: 15)")
    add("--confidence", metavar="PERCENT", type=percent, default=0.95, help="of the intervals (default: 95)")
    add("--half-width", metavar="PERCENT", type=above_zero, default=5.0,
        help="half the width of an interval over the mean: above, the point is repeated (default: 5)")  # fmt: skip
    add("--within", metavar="TIME", type=time_above_zero, default=math.inf,
        help="begin no run later than this; the same command line goes on (default: no limit)")  # fmt: skip
    add("--pause", metavar="TIME", type=duration, default=1.0,
        help="longer times without I/O of a command separate its phases, and do not count (default: 1s)")  # fmt: skip
    add("--seed", metavar="N", type=count, default=1, help="of the order of the runs (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.figures.picture_path import picture_path

    if arguments.output is not None:
        picture_path(arguments.output)
    wanted: list[Key] = []
    if arguments.commands:
        wanted = _measure(arguments)
    elif not arguments.data.exists():
        raise UsageError(
            f"{arguments.data}: no such file; to measure, give two commands: halcyon delta … -- A … -- B …"
        )
    return _report(arguments, wanted)


def _measure(arguments: argparse.Namespace) -> "list[Key]":
    """All points that were to be measured."""
    from dataclasses import asdict

    from halcyon.delta.data_file import DataFile
    from halcyon.delta.measuring import measure, points
    from halcyon.delta.runs import Limits
    from halcyon.process_session import ended_in_order

    wanted, setup = _wanted(arguments), _setup(arguments)
    limits = Limits(arguments.limit, arguments.arrive_within)
    with (
        ended_in_order(),
        _place(arguments) as (place, bed),
        DataFile(arguments.data, setup, None if bed is None else asdict(bed.plan)) as file,
        _shown() as show,
    ):
        _say_what_was_there(arguments.data, file)
        measure(place, setup, [wanted], file, limits, show, within_s=arguments.within)
        return points(wanted, file.runs)


def _say_what_was_there(path: Path, file: "DataFile") -> None:
    if file.dropped:
        print(f"halcyon: {path}: dropped the last line, which a kill had left unfinished", file=sys.stderr)
    if file.runs:
        print(f"halcyon: {path}: goes on after {plural(len(file.runs), 'run')}", file=sys.stderr)


def _report(arguments: argparse.Namespace, wanted: "list[Key]") -> int:
    from halcyon.delta.data_file import read
    from halcyon.delta.graph import Applications, graph_of
    from halcyon.delta.printed import as_dict, print_graph
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    one = arguments
    content = read(one.data)
    applications = Applications(one.a_cores, one.b_cores, one.a_weight, one.b_weight, one.a_demand, one.b_demand)
    graph = graph_of(content.runs, applications, one.confidence, one.half_width / 100, wanted, one.repeat)
    if one.output is not None:
        from halcyon.delta.picture import draw_graph

        draw_graph(graph, one.output)
    if one.json:
        sys.stdout.write(as_json(as_dict(graph)))
    else:
        print_graph(graph, console_for_tables())
    return 0 if graph.met else 1


def _setup(arguments: argparse.Namespace) -> "Setup":
    from halcyon.delta.commands import Command
    from halcyon.delta.runs import Setup
    from halcyon.delta.turns import UNCOORDINATED, known_metric
    from halcyon.testbed.place import MOUNTS

    one = arguments
    a_hosts, b_hosts = (tuple(text.split(",")) if text else () for text in (one.a_on, one.b_on))
    if bool(a_hosts) != bool(b_hosts):
        raise UsageError("--a-on and --b-on go together: both commands run on a test bed, or none")
    if one.place and not a_hosts:
        raise UsageError("--place puts files onto storage hosts of a test bed: add --a-on and --b-on")
    path = one.path or (str(MOUNTS) if a_hosts else "")
    if path:
        # Files are told by their real paths.
        path = os.path.realpath(path)
    if not path and one.policy != UNCOORDINATED:
        raise UsageError("--policy: turns are given for a file system; name it: --path DIR")
    if one.metric is not None:
        known_metric(one.metric)
    a_words, b_words = two_commands(one.commands, "halcyon delta")
    return Setup(
        Command("A", a_words, a_hosts), Command("B", b_words, b_hosts), path, one.a_arrive, one.b_arrive, one.before,
        tuple(_placed(word) for word in one.place), one.metric, one.bandwidth,
        one.pause,
    )  # fmt: skip


def _placed(word: str) -> tuple[str, str]:
    file, equals, host = word.rpartition("=")
    if not equals:
        raise UsageError(f"--place {word}: expected FILE=HOST, such as data/large.0=s1")
    return file, host


def _wanted(arguments: argparse.Namespace) -> "Wanted":
    from halcyon.delta.measuring import Wanted
    from halcyon.delta.turns import known_policy

    one = arguments
    policies = tuple(dict.fromkeys(known_policy(name) for name in one.policy.split(",")))
    return Wanted(
        _delays(one), policies, one.repeat, max(one.most, one.repeat), one.confidence, one.half_width / 100,
        one.seed,
    )  # fmt: skip


def _delays(arguments: argparse.Namespace) -> "Delays":
    from halcyon.delta.delays import Delays, parse_delay, parse_delays

    one = arguments
    if one.dt is not None and (one.first is not None or one.last is not None):
        raise UsageError("--dt lists all delays: leave out --from and --to")
    if one.dt is not None:
        return Delays(parse_delays(one.dt))
    first, last = (
        None if text is None else parse_delay(text, option)
        for text, option in ((one.first, "--from"), (one.last, "--to"))
    )
    return Delays((), first, last, one.steps)


@contextmanager
def _place(arguments: argparse.Namespace) -> Iterator[tuple["Place", "Bed | None"]]:
    from halcyon.delta.commands import Here, OnBed
    from halcyon.testbed.bed import Bed

    if not arguments.a_on:
        yield Here(), None
        return
    bed = Bed.standing()
    with bed.measuring():
        yield OnBed(bed), bed


@contextmanager
def _shown() -> Iterator[Callable[["Progress"], None]]:
    """A progress bar on a terminal, else a line per run; both on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from halcyon.delta.printed import run_in_words

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda told: print(f"halcyon: {run_in_words(told)}", file=sys.stderr, flush=True)
        return
    with Bar(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console,
        transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task("A and B alone", total=None)
        yield lambda told: bar.update(
            task, description=told.run.key.text, completed=told.made, total=told.made + told.left
        )
