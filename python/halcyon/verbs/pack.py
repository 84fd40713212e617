"""`halcyon pack [-o DIR] SOURCE`"""

import argparse
import shutil
from contextlib import ExitStack
from pathlib import Path

SUMMARY = "turn a recorded run or another tool's trace into a data set"
DESCRIPTION = (
    "Reads a trace and writes a data set of it: a folder of Parquet tables that `halcyon analyze`, `report` and "
    "`export` stand on. Known are folders made by `halcyon run --trace`, Darshan's logs, and the traces of DFTracer, "
    "Recorder and OTF2; they are told apart by content."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        help="the data set's folder, which must not exist; default: SOURCE/data for a recorded run (made "
        "anew where a trace is newer), for others the name of SOURCE with .halcyon behind",
    )
    parser.add_argument(
        "--salvage", action="store_true", help="of damaged traces of Halcyon take what stands before the damage"
    )
    parser.add_argument("--threads", metavar="N", type=int, help="processors to use (default: all)")
    parser.add_argument(
        "--memory", metavar="MIB", type=int, default=4096, help="memory for sorting, in MiB (default: %(default)s)"
    )
    parser.add_argument("source", metavar="SOURCE", type=Path, help="the trace: a file or a folder")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.observe.open_run import is_fresh
    from halcyon.observe.pack import data_of, pack
    from halcyon.observe.recording.lock import held_lock

    source: Path = arguments.source
    target: Path = arguments.output or data_of(source)
    memory_bytes = arguments.memory << 20
    with ExitStack() as stack:
        if source.is_dir() and target.resolve().parent == source.resolve():
            stack.enter_context(held_lock(source)).to_write()
            if arguments.output is None and is_fresh(source):
                print(f"{target}: packed already; remove it to have it packed anew")
                return 0
            if arguments.output is None:  # older than its traces
                shutil.rmtree(target, ignore_errors=True)
        kind = pack(source, target, salvage=arguments.salvage, threads=arguments.threads, memory_bytes=memory_bytes)
    print(f"{target}: data set of a trace of {kind}")
    return 0
