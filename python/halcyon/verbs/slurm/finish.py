"""`halcyon slurm finish FOLDER --status N`"""

import argparse
from pathlib import Path

SUMMARY = "for the plugin: finish the summary of a step that has ended"
DESCRIPTION = "Does what `halcyon run` does behind the end of its command, and says what was recorded."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="as `halcyon slurm prepare` said it")
    parser.add_argument("--status", metavar="N", type=int, required=True, help="exit status of srun")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.slurm.step import finish_step

    finish_step(arguments.folder, arguments.status)
    return 0
