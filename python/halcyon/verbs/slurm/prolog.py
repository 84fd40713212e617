"""`halcyon slurm prolog`"""

import argparse

SUMMARY = "for Slurm's prolog: announce a job that Slurm starts to the coordinators"
DESCRIPTION = (
    "Reads what Slurm tells of the job in variables. What goes wrong at a coordinator is said on standard "
    "output; the exit code is 0 all the same, since Slurm takes a node out of service where its prolog fails."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(arguments: argparse.Namespace) -> int:
    from halcyon.slurm.announce import Job, announce_begin

    for wrong in announce_begin(Job.of_script()):
        print(f"halcyon: {wrong}; the job goes on")
    return 0
