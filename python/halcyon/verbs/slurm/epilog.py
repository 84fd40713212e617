"""`halcyon slurm epilog`"""

import argparse

SUMMARY = "for Slurm's epilog: tell the coordinators that a job of Slurm has ended"
DESCRIPTION = (
    "Reads what Slurm tells of the job in variables. What goes wrong at a coordinator is said on standard "
    "output; the exit code is 0 all the same, since Slurm takes a node out of service where its epilog fails."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(arguments: argparse.Namespace) -> int:
    from halcyon.slurm.announce import Job, announce_end

    for wrong in announce_end(Job.of_script()):
        print(f"halcyon: {wrong}; the job goes on")
    return 0
