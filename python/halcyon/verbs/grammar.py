"""`halcyon grammar MODEL`"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halcyon.errors import UsageError

if TYPE_CHECKING:
    from halcyon.predict.learnt import Learnt

SUMMARY = "print what was learnt of a program's I/O: its loops, as rules of a grammar"
DESCRIPTION = (
    "Reads a model that `halcyon run --predict --save-model` or `halcyon predict --save-model` saved, and prints the "
    "grammar of a thread's I/O calls: its rules, with what one use of each costs in calls, bytes and time; and its "
    "call sites. Given a folder, it takes the only model there, or lists all."
)
ENOUGH = 6
"""Rules, for it to be worth saying that there is a shorter way to tell them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", type=Path, help="a saved model, or a folder with some")
    parser.add_argument(
        "-o", "--output", metavar="PICTURE", type=Path, help="draw the rules into this file, .svg or .png"
    )
    parser.add_argument("--thread", metavar="N", type=int, help="of the model (default: the one with most calls)")
    parser.add_argument(
        "--loops",
        action="store_true",
        help="leave open how often a call is repeated: loops that differ in nothing else become one rule",
    )
    parser.add_argument("--stacks", action="store_true", help="print the whole call stack of each call site")
    parser.add_argument("--all", action="store_true", help="print all rules and call sites, and long rules in full")
    parser.add_argument(
        "--binaries",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="look there for the program and its libraries, to name functions and lines; several times",
    )
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.predict.grammar_machine import as_machine
    from halcyon.predict.grammar_text import print_grammar
    from halcyon.predict.learnt import read_learnt
    from halcyon.predict.loops import with_open_counts

    if arguments.output is not None:
        from halcyon.figures.picture_path import picture_path

        picture_path(arguments.output)
    model = _only_one(arguments.model)
    if model is None:
        return _list(arguments)
    learnt = read_learnt(model, arguments.thread)
    if arguments.binaries:
        from halcyon.predict.code_places import with_places

        learnt = with_places(learnt, arguments.binaries)
    told = with_open_counts(learnt) if arguments.loops else learnt
    if arguments.output is not None:
        from halcyon.predict.grammar_picture import draw_grammar

        draw_grammar(told, arguments.output)
    if arguments.json:
        sys.stdout.write(as_machine(told))
    else:
        print_grammar(told, everything=arguments.all, stacks=arguments.stacks, shorter=_shorter(told))
    return 0


def _shorter(learnt: "Learnt") -> "Learnt | None":
    """The same with counts left open, where there are enough rules to ask."""
    from halcyon.predict.loops import with_open_counts

    if len(learnt.rules) < ENOUGH:
        return None
    try:
        return with_open_counts(learnt)
    except UsageError:  # too long to look
        return None


def _only_one(path: Path) -> Path | None:
    """The file, or the only model of the folder; None: it has several. UsageError: it has none."""
    from halcyon.predict.learnt import model_files

    if not path.is_dir():
        return path
    there = model_files(path)
    if not there:
        raise UsageError(f"{path}: no saved model in this folder; such files begin with HALCMODL or HALCGRAM")
    return there[0] if len(there) == 1 else None


def _list(arguments: argparse.Namespace) -> int:
    from halcyon.predict.learnt import listed
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables, print_table

    if arguments.output is not None or arguments.thread is not None:
        raise UsageError(f"{arguments.model}: several models; name one of them: halcyon grammar {arguments.model}/NAME")
    there, wrong = listed(arguments.model)
    for why in wrong:
        print(f"halcyon: {why}", file=sys.stderr)
    if not there:
        return 1
    if arguments.json:
        sys.stdout.write(as_json({"models": there}))
        return 0
    columns = ("file", "threads", "calls", "rules", "call sites")
    rows = [
        (one.path.name, f"{one.threads:,}", f"{one.calls:,}", f"{one.rules:,}", f"{one.call_sites:,}") for one in there
    ]
    note = "rules and call sites of the thread with most calls"
    print_table(console_for_tables(), f"Models in {arguments.model}", columns, rows, most=len(rows), note=note)
    return 0
