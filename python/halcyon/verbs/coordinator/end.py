"""`halcyon coordinator end JOB`"""

import argparse

from halcyon.verbs.coordinator import which

SUMMARY = "say that a batch system's job has ended: it loses its turn at once"
DESCRIPTION = (
    "Tells the coordinators that JOB, such as slurm-12, has ended. Its applications lose their turns at once, and its "
    "name is free again. For administrators, as `halcyon coordinator top`."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="its name at the coordinators, such as slurm-12")
    which.add_arguments(parser, every=True)


def run(arguments: argparse.Namespace) -> int:
    from halcyon.coordinate.jobs import end_job

    which.tell_all(arguments, lambda connection: end_job(connection, arguments.job))
    return 0
