"""`halcyon slurm prepare --layers LIST -- COMMAND`"""

import argparse
import sys
from pathlib import Path

SUMMARY = "for the plugin: make the folder of a step's run, print its variables"
DESCRIPTION = (
    "Does what `halcyon run` does before it starts COMMAND. Prints the folder, then NAME=VALUE for each variable of "
    "its tasks, each ended by a zero byte."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--layers", metavar="LIST", required=True, help="as of srun --halcyon, separated by commas")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="as of halcyon run")
    parser.add_argument(
        "--coordinators",
        metavar="FILE",
        type=Path,
        help="coordinators.yaml, unless HALCYON_COORDINATORS_FILE names another one",
    )
    parser.add_argument("command", metavar="-- COMMAND", nargs=argparse.REMAINDER, help="the program of the step")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.slurm.step import as_answer, prepare_step

    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    run = prepare_step(arguments.layers.split(","), command, arguments.output, arguments.coordinators)
    sys.stdout.buffer.write(as_answer(run))
    return 0
