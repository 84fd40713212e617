"""`halcyon run [--trace] [--predict] [--prefetch] [--coordinate] [--log DIR] [--servers-per-node 1] -- COMMAND`"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from halcyon.verbs.coordination_words import add_coordination, coordination_of

SUMMARY = "run a command: with its I/O recorded or predicted, or beside a server world"
DESCRIPTION = (
    "Runs COMMAND, for example `mpirun -n 64 ./simulation`. With --trace every I/O call of all its processes is "
    "recorded, without any change to it: `halcyon report` and `halcyon analyze` then say what it did. With "
    "--predict its processes learn their I/O while they run, and can ask what comes next (halcyon_forecast); with "
    "--prefetch what they are about to read is read ahead. With --coordinate they take turns with other jobs at file "
    "systems that have a coordinator, which is told what --predict forecasts. With --log each of the files below a "
    "directory becomes a log container, into which any number of processes write without waiting for each other. With "
    "--servers-per-node the servers of all nodes are started first, by the same launcher on the same nodes, as one MPI "
    "world: events of scope 'job' need that. The exit code is the command's."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trace", action="store_true", help="record every I/O call; the same as --layers trace")
    parser.add_argument(
        "--predict",
        action=argparse.BooleanOptionalAction,
        help="learn and forecast I/O; the same as --layers predict; --coordinate and --prefetch do so by themselves",
    )
    parser.add_argument("--prefetch", action="store_true", help="read ahead what is predicted; implies --predict")
    parser.add_argument(
        "--coordinate",
        action="store_true",
        help="take turns with other jobs at file systems that have a coordinator; implies --predict, so that the "
        "coordinator knows what is to come, unless --no-predict is given",
    )
    parser.add_argument(
        "--layers",
        metavar="LIST",
        help="what calls pass, separated by commas; known: trace, predict, prefetch, coordinate",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        help="folder for what is recorded; default: PROGRAM.halcyon; where that exists, PROGRAM.2.halcyon and so on",
    )
    parser.add_argument(
        "--buffer", metavar="SIZE", help="room for calls not yet written, per process: 1 to 22 MiB; default: 8 MiB"
    )
    parser.add_argument(
        "--local",
        metavar="DIR",
        type=Path,
        help="where traces lie until their process ends; default: --output if that is a disk of the node, else /tmp",
    )
    parser.add_argument(
        "--contexts", action="store_true", help="record with each call of POSIX and of streams its call stack, too"
    )
    parser.add_argument(
        "--predict-memory",
        metavar="SIZE",
        help="room for what is learnt, per thread: from 256 KiB; default: 4 MiB; --memory of halcyon predict",
    )
    parser.add_argument(
        "--predict-cut-off",
        metavar="N",
        type=int,
        help="sizes and offsets of one call site that are learnt one by one, not as an average: 1 to 64; default: 24; "
        "--distinct-values of halcyon predict",
    )
    parser.add_argument(
        "--predict-least-pause",
        metavar="SECONDS",
        type=float,
        help="shorter gaps do not start a new phase; default: 0.01; --pause of halcyon predict, in milliseconds",
    )
    parser.add_argument(
        "--save-model", metavar="DIR", type=Path, help="keep there what each process has learnt when it ends"
    )
    parser.add_argument("--model", metavar="DIR", type=Path, help="begin with what was kept there by --save-model")
    parser.add_argument(
        "--prefetch-memory", metavar="SIZE", help="how far ahead the reads of a process may be; default: 32 MiB"
    )
    parser.add_argument(
        "--prefetch-percent",
        metavar="N",
        type=int,
        help="reads that are less probable are not read ahead: 1 to 100; default: 50",
    )
    add_coordination(parser)
    parser.add_argument(
        "--log",
        metavar="DIR",
        action="append",
        default=[],
        help="files that are created below DIR become log containers: each process writes a log of its own; may be "
        "repeated",
    )
    parser.add_argument(
        "--stage",
        metavar="DIR",
        help="--log: data go to this directory first, which each node has for itself; an agent on each node brings "
        "them into the containers, also after the command. fsync brings what was written, and returns when that is "
        "durable",
    )
    parser.add_argument(
        "--stage-rate",
        metavar="SIZE",
        help="--stage: bytes that a node brings per second, at most (default: as many as can be)",
    )
    parser.add_argument(
        "--backends",
        metavar="A,B,C",
        help="--log: directories, perhaps of several file systems, over which the logs of each file are spread; the "
        "containers below --log know of them",
    )
    parser.add_argument(
        "--logs-per",
        choices=("process", "node"),
        help="--log: who has a log of its own for each file (default: process); of a node, its processes write into "
        "one together, which is less load for storage targets",
    )
    parser.add_argument(
        "--log-checks",
        action="store_true",
        default=None,
        help="--log: check sums over the data are written, too, and compared when data are read: damage is EIO, never "
        "wrong bytes",
    )
    parser.add_argument(
        "--log-targets",
        metavar="N",
        type=int,
        help="--log: storage targets of the file system (default: as Lustre or GlusterFS says); the command warns "
        "where so many logs on so many targets pay no more",
    )
    parser.add_argument(
        "--log-load",
        metavar="L",
        type=float,
        help="--log: warn from this load of a storage target on (default: 3; see halcyon model stripes --logs)",
    )
    parser.add_argument(
        "--flatten",
        choices=("background",),
        help="--log: containers that nobody has open become plain files, while the command runs and after it; an agent "
        "does that in the background, which ends when all is done",
    )
    parser.add_argument(
        "--flatten-rate",
        metavar="SIZE",
        help="--flatten: bytes that are written per second, at most; 0: as many as can be (default: 100 MB)",
    )
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
    from halcyon.errors import UnavailableError, UsageError
    from halcyon.layers.job import Job
    from halcyon.layers.log_agent import DEFAULT_RATE, Flattening, start_agent
    from halcyon.layers.log_placement import say_if_crowded
    from halcyon.layers.logs import Logs, Stage, say_what_was_logged
    from halcyon.layers.preload import Prediction, Prefetching, preloading, with_needed
    from halcyon.layers.record import record, say_what_was_recorded
    from halcyon.models.stripes import GOOD_LOAD
    from halcyon.offload.server_world import run_alone, run_beside_world

    command: list[str] = arguments.command
    if command[:1] == ["--"]:
        command = command[1:]
    if not command:
        raise UsageError("no command to run: halcyon run --trace -- mpirun -n 4 ./simulation")
    if arguments.servers_per_node not in (None, 1):
        raise UsageError(
            f"--servers-per-node {arguments.servers_per_node}: a node has one server, whose number of threads is "
            "resources.server.threads in halcyon.yaml; the only value is 1"
        )
    patience: float | None = arguments.patience if arguments.servers_per_node else None
    layers = [layer for layer in ("trace", "predict", "prefetch", "coordinate") if getattr(arguments, layer)]
    layers += [layer for layer in (arguments.layers or "").split(",") if layer and layer not in layers]
    if "prefetch" in layers and arguments.predict is False:
        raise UsageError("--prefetch reads ahead what is predicted; it does not go with --no-predict")
    if arguments.predict is not False:
        layers = with_needed(layers)
    prediction = Prediction(
        arguments.predict_memory,
        arguments.predict_cut_off,
        arguments.predict_least_pause,
        arguments.save_model,
        arguments.model,
    )
    prefetching = Prefetching(arguments.prefetch_memory, arguments.prefetch_percent)
    if prefetching != Prefetching() and "prefetch" not in layers:
        raise UsageError("--prefetch-… say how to read ahead: add --prefetch")
    if prediction != Prediction() and "predict" not in layers:
        raise UsageError("--predict-…, --save-model and --model say how to learn: add --predict")
    coordination = coordination_of(arguments, takes_turns="coordinate" in layers)
    if coordination is not None:
        coordination = replace(coordination, job=Job.given())
    stage = None
    if arguments.stage is not None:
        stage = Stage(arguments.stage, arguments.stage_rate or "0", takes_turns="coordinate" in layers)
    backends = tuple(one for one in (arguments.backends or "").split(",") if one)
    per_node, checks = arguments.logs_per == "node", bool(arguments.log_checks)
    logs = Logs(tuple(arguments.log), stage, backends, per_node, checks) if arguments.log else None
    for option in ("stage", "backends", "logs_per", "log_checks", "log_targets", "log_load"):
        if logs is None and getattr(arguments, option) is not None:
            raise UsageError(f"--{option.replace('_', '-')} says something about log containers: add --log DIR")
    if arguments.stage_rate is not None and stage is None:
        raise UsageError("--stage-rate says how fast data are brought: add --stage DIR")
    if arguments.log_targets is not None and arguments.log_targets < 1:
        raise UsageError(f"--log-targets {arguments.log_targets}: expected 1 or more")
    if arguments.log_load is not None and not 1 <= arguments.log_load <= 1000:
        raise UsageError(f"--log-load {arguments.log_load:g}: expected 1 to 1000")
    flattens = arguments.flatten is not None
    if flattens and logs is None:
        raise UsageError("--flatten makes plain files of log containers: add --log DIR")
    if arguments.flatten_rate is not None and not flattens:
        raise UsageError("--flatten-rate says how fast plain files are made: add --flatten background")
    if logs and "prefetch" in layers:
        print("halcyon: --prefetch reads nothing ahead of files below --log", file=sys.stderr)
    if logs and not logs.per_node:
        say_if_crowded(logs.directories, command, arguments.log_targets, arguments.log_load or GOOD_LOAD)
    if logs and flattens:
        flattening = Flattening(arguments.flatten_rate or DEFAULT_RATE)
        try:
            start_agent(logs, flattening, coordination)
        except UnavailableError as why:
            # The command counts more than what becomes of its files later.
            print(f"halcyon: --flatten: containers stay what they are: {why}", file=sys.stderr)
            flattens = False
    if layers:
        code, place = record(
            command,
            layers,
            arguments.output,
            arguments.buffer,
            arguments.local,
            patience,
            arguments.contexts,
            prediction,
            prefetching,
            coordination,
            logs,
        )
        say_what_was_recorded(place, layers, coordination)
        if logs:
            say_what_was_logged(logs, flattened=flattens)
        return code
    if arguments.output or arguments.buffer or arguments.local or arguments.contexts:
        raise UsageError("--output, --buffer, --local and --contexts say how to record: add --trace or --predict")
    wanted = preloading() | logs.variables() if logs else None
    ended = run_alone(command, wanted) if patience is None else run_beside_world(command, patience, wanted)
    if logs:
        say_what_was_logged(logs, flattened=flattens)
    elif patience is None:
        print("halcyon: nothing was recorded: neither --trace nor --predict was given", file=sys.stderr)
    return ended.status
