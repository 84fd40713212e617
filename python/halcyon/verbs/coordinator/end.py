"""`halcyon coordinator end JOB`"""

import argparse
import sys

from halcyon.verbs.coordinator import which

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

    asked, known = [], False
    for name, connection in which.connect_all(arguments):
        with connection:
            known |= end_job(connection, arguments.job)
        asked.append(name)
    if not known:
        seen = "`halcyon coordinator top` shows jobs"
        print(f"halcyon: no such job {arguments.job!r} at {', '.join(asked)}; {seen}", file=sys.stderr)
    return 0 if known else 1
