"""`halcyon coordinator run`"""

import argparse
import os
from pathlib import Path

from halcyon.verbs.coordinator import which

SUMMARY = "run the coordinator of a file system"
DESCRIPTION = (
    "Becomes the daemon halcyon-coordinator, in the foreground, until SIGTERM or SIGINT. SIGHUP: reads FILE again. "
    "Without FILE, --address says where to listen and everything else has its default."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", type=Path, help="coordinators.yaml")
    parser.add_argument("--name", metavar="NAME", help="which of its coordinators; needed where there are several")
    parser.add_argument(
        "--address",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="where to listen, instead of what FILE says: unix:/path, unix:@name or tcp:host:port; may be repeated",
    )
    parser.add_argument(
        "--policy",
        metavar="POLICY",
        help="instead of what FILE says: interfere, fcfs, interrupt, delay, fair-share, set-10, dynamic (default)",
    )
    parser.add_argument(
        "--metric",
        metavar="METRIC",
        help="which dynamic minimises, instead of what FILE says: sum-of-times, sum-of-interference-factors (default), "
        "cpu-hours, energy",
    )
    parser.add_argument("--metrics", metavar="ADDRESS", help="for Prometheus, instead of what FILE says")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.coordinate.configuration import find_program
    from halcyon.errors import HalcyonSystemError

    config = None if arguments.address and not arguments.config else which.file_of(arguments)
    command = [str(find_program())]
    given = {
        "--config": config,
        "--name": arguments.name,
        "--policy": arguments.policy,
        "--metric": arguments.metric,
        "--metrics": arguments.metrics,
    }
    for option, value in given.items():
        command += [] if value is None else [f"{option}={value}"]
    command += [f"--address={address}" for address in arguments.address]
    try:
        os.execv(command[0], command)
    except OSError as why:
        raise HalcyonSystemError.of(why, command[0]) from why
