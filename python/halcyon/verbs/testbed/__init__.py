"""`halcyon testbed COMMAND`: one module per command."""

import argparse

from halcyon.verbs.parts import add_parts, run_part

SUMMARY = "make a small cluster of this machine, on which interference is real"
DESCRIPTION = (
    "A cluster on one machine, for experiments and tests: compute and storage hosts (network namespaces) with links "
    "of limited rate, GlusterFS over the storage hosts, MPI and Slurm across the compute hosts. Needs root. One "
    "process owns all of it: nothing is left behind when it ends."
)

_COMMANDS = ("up", "exec", "check", "together", "status", "down")

run = run_part


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_parts(parser, __name__, _COMMANDS, "COMMAND")
