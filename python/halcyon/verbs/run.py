"""`halcyon run [--servers-per-node 1] -- COMMAND`"""

import argparse

SUMMARY = "run a simulation, with its servers as one MPI job where wanted"
DESCRIPTION = (
    "Runs COMMAND, for example `mpirun -n 64 ./simulation`. With --servers-per-node the servers of all nodes are "
    "started first, by the same launcher on the same nodes, as one MPI world: events of scope 'job' need that. "
    "The exit code is the command's."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--servers-per-node", metavar="N", type=int, help="start a server world; N has to be 1")
    parser.add_argument(
        "--patience",
        metavar="SECONDS",
        type=float,
        default=600.0,
        help="how long the servers may go on storing after the command ended; default: %(default).0f",
    )
    parser.add_argument("command", metavar="-- COMMAND", nargs=argparse.REMAINDER, help="what to run")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.errors import UsageError
    from halcyon.server_world import run_alone, run_beside_world

    command: list[str] = arguments.command
    if command[:1] == ["--"]:
        command = command[1:]
    if not command:
        raise UsageError("no command to run: halcyon run --servers-per-node 1 -- mpirun -n 4 ./simulation")
    if arguments.servers_per_node is None:
        return run_alone(command)
    if arguments.servers_per_node != 1:
        raise UsageError(
            f"--servers-per-node {arguments.servers_per_node}: a node has one server, whose number of threads is "
            "resources.server.threads in halcyon.yaml; the only value is 1"
        )
    return run_beside_world(command, arguments.patience)
