"""`halcyon model QUESTION`: one module per question."""

import argparse
from importlib import import_module
from typing import cast

from rich_argparse import RichHelpFormatter

SUMMARY = "answer questions before a run: load of storage targets"
DESCRIPTION = "Computes closed-form models of the I/O of a machine. Nothing is run, and nothing is measured."

_QUESTIONS = ("stripes",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    questions = parser.add_subparsers(dest="question", metavar="QUESTION", required=True)
    for name in _QUESTIONS:
        module = import_module(f"halcyon.verbs.model.{name}")
        one = questions.add_parser(
            name,
            help=module.SUMMARY,
            description=module.DESCRIPTION,
            formatter_class=RichHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(one)
        one.set_defaults(answer=module.run)


def run(arguments: argparse.Namespace) -> int:
    return cast(int, arguments.answer(arguments))
