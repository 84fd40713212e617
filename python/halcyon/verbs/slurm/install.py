"""`halcyon slurm install DIRECTORY`"""

import argparse
from pathlib import Path

SUMMARY = "write Slurm's prolog, epilog and plugstack.conf"
DESCRIPTION = (
    "Writes three files into DIRECTORY, which has to be at the same place on all nodes, and prints the lines that "
    "slurm.conf needs. Files that are there and were made by this command are replaced, others are not."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="DIRECTORY", type=Path, help="such as /etc/halcyon/slurm")
    parser.add_argument(
        "--coordinators",
        metavar="FILE",
        type=Path,
        help="coordinators.yaml that prolog, epilog and srun read (default: /etc/halcyon/coordinators.yaml)",
    )


def run(arguments: argparse.Namespace) -> int:
    from halcyon.slurm.installation import install, lines_for

    made = install(arguments.directory, arguments.coordinators)
    print("add to slurm.conf on all nodes, then `scontrol reconfigure`:")
    for line in lines_for(made):
        print(f"  {line}")
    print("where slurm.conf names a Prolog or an Epilog already, call these from it")
    print(f"where there is a plugstack.conf already, add to it: include {made.plug_stack}")
    return 0
