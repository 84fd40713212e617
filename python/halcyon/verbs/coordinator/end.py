"""`halcyon coordinator end JOB`"""

import argparse
import sys
from typing import TYPE_CHECKING

from halcyon.verbs.coordinator import which

if TYPE_CHECKING:
    from halcyon.coordinate.connection import Connection

SUMMARY = "say that a batch system's job has ended: it loses its turn at once"
DESCRIPTION = (
    "Tells the coordinators that JOB, such as slurm-12, has ended. Its applications lose their turns at once, and its "
    "name is free again. Exit code 1: none of them knows such a job. For administrators, as `halcyon coordinator top`."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="its name at the coordinators, such as slurm-12")
    which.add_arguments(parser, every=True)


def run(arguments: argparse.Namespace) -> int:
    from halcyon.coordinate.jobs import end_job

    known = []

    def end(at: "Connection") -> None:
        known.append(end_job(at, arguments.job))

    asked = which.tell_all(arguments, end)
    if not any(known):
        seen = "`halcyon coordinator top` shows jobs"
        print(f"halcyon: no such job {arguments.job!r} at {', '.join(asked)}; {seen}", file=sys.stderr)
    return 0 if any(known) else 1
