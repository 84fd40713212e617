"""`halcyon coordinator COMMAND`: one module per command."""

import argparse

from halcyon.verbs.parts import add_parts, run_part

SUMMARY = "let applications take turns at a file system"
DESCRIPTION = (
    "A coordinator is a daemon, one for each file system, that decides which application may do I/O when several want "
    "to at the same time. coordinators.yaml says which paths have which coordinator."
)

_COMMANDS = ("run", "check", "top", "explain", "reserve", "end")

run = run_part


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_parts(parser, __name__, _COMMANDS, "COMMAND", {"run": "daemon"})
