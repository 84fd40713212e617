"""`halcyon log COMMAND PATH`: one module per command."""

import argparse

from halcyon.verbs.parts import add_parts, run_part

SUMMARY = "look after log containers, and turn them into plain files"
DESCRIPTION = (
    "A log container is a directory that stands for one file: each process that wrote it has a log of its own there. "
    "Exit codes: 0 done, 1 it failed (for `check`: the container is damaged), 2 PATH is no container, or the command "
    "line makes no sense."
)

_COMMANDS = ("check", "repair", "flatten", "map", "stats", "drain", "punch", "export", "remove")

run = run_part


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_parts(parser, __name__, _COMMANDS, "COMMAND")
