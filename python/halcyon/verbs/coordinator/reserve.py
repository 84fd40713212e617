"""`halcyon coordinator reserve JOB --user USER`"""

import argparse

from halcyon.verbs.coordinator import which

SUMMARY = "announce a batch system's job: nobody but its user can register it"
DESCRIPTION = (
    "Tells the coordinators that JOB, such as slurm-12, is about to start for USER. Until it ends, nobody else can "
    "register an application of that name, or of a name that begins with JOB and a dot; whoever has done so already is "
    "refused. For administrators, as `halcyon coordinator top`. `halcyon slurm install` makes scripts for Slurm that "
    "do this for each job."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="its name at the coordinators, such as slurm-12")
    parser.add_argument("--user", metavar="USER", required=True, help="whose job it is: a name, or a number")
    parser.add_argument("--processes", metavar="N", type=int, default=0, help="no more are believed of it")
    parser.add_argument("--nodes", metavar="N", type=int, default=0, help="likewise")
    which.add_arguments(parser, every=True)


def run(arguments: argparse.Namespace) -> int:
    from halcyon.coordinate.jobs import reserve_job
    from halcyon.errors import UsageError

    for option in ("processes", "nodes"):
        if getattr(arguments, option) < 0:
            raise UsageError(f"--{option} {getattr(arguments, option)}: expected a number above 0")
    user = _number_of(arguments.user)
    which.tell_all(arguments, lambda told: reserve_job(told, arguments.job, user, arguments.processes, arguments.nodes))
    return 0


def _number_of(user: str) -> int:
    import pwd

    from halcyon.errors import UsageError

    if user.isdecimal():
        return int(user)
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        raise UsageError(f"--user {user}: no such user here; expected a name, or a number") from None
