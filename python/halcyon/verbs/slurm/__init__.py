"""`halcyon slurm COMMAND`: one module per command."""

import argparse

from halcyon.verbs.parts import add_parts, run_part

SUMMARY = "set Slurm up: srun --halcyon, and jobs that coordinators know"
DESCRIPTION = (
    "`install` writes what slurm.conf has to name, `check` says what is missing. The other commands are for Slurm's "
    "scripts and its plugin, not for people."
)

_COMMANDS = ("install", "check", "prolog", "epilog", "prepare", "finish")

run = run_part


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_parts(parser, __name__, _COMMANDS, "COMMAND")
