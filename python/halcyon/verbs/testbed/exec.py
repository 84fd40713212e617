"""`halcyon testbed exec HOST -- COMMAND`"""

import argparse
import os

from halcyon.errors import HalcyonSystemError, UsageError

SUMMARY = "run a command on a host of the test bed"
DESCRIPTION = (
    "Runs COMMAND on a host, in the current folder, with this terminal. mpirun (Open MPI or MPICH) and, with Slurm, "
    "srun reach the other compute hosts without further options. $TESTBED_MOUNT is a folder of the file system, "
    "$TESTBED_MOUNTS are all mounts of the host, separated by colons. /run is the bed's own. The exit code is the "
    "command's."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", metavar="HOST", help="c1, c2, … or s1, s2, …")
    parser.add_argument(
        "--place",
        metavar="FILE=HOST",
        action="append",
        default=[],
        help="first create FILE, a path in the file system, on this storage host; may be repeated",
    )
    parser.add_argument("command", metavar="COMMAND", nargs="+", help="after --")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.testbed.bed import Bed

    bed = Bed.standing()
    entered = bed.command(arguments.host, arguments.command)
    for word in arguments.place:
        file, equals, server = word.rpartition("=")
        if not equals:
            raise UsageError(f"--place {word}: expected FILE=HOST, such as data/large.0=s1")
        bed.place(file, server)
    try:
        os.execvpe(entered[0], entered, bed.environment(arguments.host))
    except OSError as why:
        raise HalcyonSystemError.of(why, entered[0]) from why
