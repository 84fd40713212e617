"""The `halcyon` command: finds the verb, lets it parse, and turns errors into messages and exit codes.

Exit codes: 0 done, 1 it failed (or, for `diff`, the runs differ), 2 the command line makes no sense.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn, Protocol, cast

from rich_argparse import RichHelpFormatter

from halcyon.errors import HalcyonError, HalcyonSystemError, InternalError, UsageError
from halcyon.verbs import VERBS
from halcyon.visible_text import visible_lines


class Verb(Protocol):
    """What a module of halcyon.verbs offers. Modules import what is heavy inside `run`, so that `--help` is quick."""

    SUMMARY: str
    DESCRIPTION: str

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None: ...

    @staticmethod
    def run(arguments: argparse.Namespace) -> int: ...


_KINDS = (("int", "whole number"), ("float", "number"))


class _Parser(argparse.ArgumentParser):
    """argparse with messages that begin like all others of the command."""

    def error(self, message: str) -> NoReturn:
        for kind, noun in _KINDS:  # in argparse's words, the name of a type of Python
            message = re.sub(rf"invalid {kind} value: ('.*')$", rf"\1 is no {noun}", message)
        self.exit(2, f"halcyon: {message}\ntry: {self.prog} --help\n")


def build_parser(verb: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line, one sub-parser per verb; or only of one verb, which is quicker."""
    parser = _Parser(
        prog="halcyon",
        description="Halcyon makes the I/O of HPC simulations calm.",
        formatter_class=RichHelpFormatter,
        allow_abbrev=False,
    )
    if verb is None:  # no word behind a verb asks for it
        from halcyon import __version__

        parser.add_argument("--version", action="version", version=f"halcyon {__version__}")
    # `prog`: else argparse formats a usage for it, which loads rich.
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser, prog=parser.prog)
    for name in VERBS if verb is None else (verb,):
        module = cast(Verb, import_module(f"halcyon.verbs.{name}"))
        sub = verbs.add_parser(
            name,
            help=module.SUMMARY,
            description=module.DESCRIPTION,
            formatter_class=RichHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb; returns the exit code."""
    for stream in ("stdin", "stdout", "stderr"):
        if getattr(sys, stream) is None:  # `halcyon … >&-`
            setattr(sys, stream, Path(os.devnull).open("r+", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be UTF-8
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        parser = build_parser(words[0] if words and words[0] in VERBS else None)  # it prints, too
        arguments, unknown = parser.parse_known_args(words)
        if unknown:
            said = f"halcyon: unrecognized arguments: {' '.join(unknown)}\ntry: halcyon {arguments.verb} --help\n"
            parser.exit(2, said)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except UsageError as wrong:
        return _fail(wrong, 2)
    except InternalError as fault:
        return _fail(f"{fault}\nThis is a fault of Halcyon: please report it.", 1)
    except HalcyonError as failure:
        return _fail(failure, 1)
    except BrokenPipeError:  # `halcyon summary … | head`: the reader has seen enough
        _drop_output()
        return 0
    except OSError as why:  # such as a full disk, where nobody knew more of it
        _drop_output()
        return _fail(HalcyonSystemError.of(why, why.filename or "standard output or a temporary file"), 1)
    except KeyboardInterrupt:
        return 130
    return code


def _drop_output() -> None:
    """Of what finds no room or reader: else the interpreter would try once more at its end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(what: object, code: int) -> int:
    print(f"halcyon: {visible_lines(str(what))}", file=sys.stderr)
    return code
