"""`halcyon log map PATH`"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halcyon.verbs.log.container_words import add_json, add_path, ended_by_ctrl_c
from halcyon.verbs.rows_option import add_rows

if TYPE_CHECKING:
    from halcyon.logfs.tools import FileMap

SUMMARY = "show which part of the file lies where"
DESCRIPTION = (
    "Lists the parts of the file in their order: in which data dropping each lies, at which of its bytes, and which "
    "rank wrote it; or that it is a hole. Parts that lie one behind the other in one dropping are one. Exit code 1: "
    "the container is damaged."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_path(parser)
    parser.add_argument("--begin", metavar="SIZE", default="0", help="from this byte on, such as 64MiB (default: 0)")
    parser.add_argument("--end", metavar="SIZE", help="up to this byte (default: the end of the file)")
    add_rows(parser, "parts shown", "; --json has all")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from halcyon import logfs
    from halcyon.logfs.printed import print_map
    from halcyon.printed.plain import as_json, plain
    from halcyon.printed.tables import console_for_tables
    from halcyon.quantities import parse_bytes

    path: Path = arguments.path
    begin = parse_bytes(arguments.begin, "--begin")
    end = None if arguments.end is None else parse_bytes(arguments.end, "--end")
    with ended_by_ctrl_c():
        found = logfs.map(path, begin, end, None if arguments.json else arguments.rows)
    if arguments.json:
        parts = _parts(found)
        told = {"container": str(path), "size": found.size, "parts": parts, "writers": plain(found.writers)}
        sys.stdout.write(as_json(told))
    else:
        print_map(found, path, console_for_tables())
    return 0


def _parts(of: "FileMap") -> list[dict[str, int | None]]:
    """null for what a hole has not."""
    columns = {"start": of.start, "length": of.length, "physical": of.physical, "writer": of.writer}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [{name: None if value < 0 else value for name, value in zip(columns, row, strict=True)} for row in rows]
