"""`halcyon slurm check`"""

import argparse
from pathlib import Path

SUMMARY = "say what Slurm's configuration lacks"
DESCRIPTION = (
    "Looks at slurm.conf, plugstack.conf, prolog, epilog and coordinators.yaml of this machine. One line for each "
    "thing that has to be so, with the way out where it is not. Exit code 1: something is missing."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--conf", metavar="FILE", type=Path, help="slurm.conf (default: $SLURM_CONF, else /etc/slurm/slurm.conf)"
    )


def run(arguments: argparse.Namespace) -> int:
    from halcyon.slurm.check import check, slurm_conf

    findings = check(arguments.conf or slurm_conf())
    for one in findings:
        print(f"missing: {one.what}; {one.way_out}" if one.way_out else f"ok: {one.what}")
    return int(any(one.way_out for one in findings))
