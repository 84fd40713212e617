"""`halcyon pack [-o DIR] SOURCE`"""

import argparse
from pathlib import Path

SUMMARY = "turn a trace into a data set"
DESCRIPTION = (
    "Reads a trace and writes a data set of it: a folder of Parquet tables that `halcyon analyze`, `report` and "
    "`export` stand on. Known are Darshan's logs, DFTracer's, Recorder's and OTF2's traces, told apart by content."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        help="the data set's folder, which must not exist (default: SOURCE's name with .halcyon behind)",
    )
    parser.add_argument("--threads", metavar="N", type=int, help="processors to use (default: all)")
    parser.add_argument(
        "--memory", metavar="MIB", type=int, default=4096, help="memory for sorting, in MiB (default: %(default)s)"
    )
    parser.add_argument("source", metavar="SOURCE", type=Path, help="the trace: a file or a folder")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.observe.pack import pack_foreign

    source: Path = arguments.source
    target: Path = arguments.output or Path(f"{source.name or source.absolute().name}.halcyon")
    kind = pack_foreign(source, target, threads=arguments.threads, memory_bytes=arguments.memory << 20)
    print(f"{target}: data set of a trace of {kind}")
    return 0
