"""`--rows N`: how many rows of a table are shown."""

import argparse


def add_rows(parser: argparse.ArgumentParser, what: str, more: str = "") -> None:
    """`what`: of which the rows are, such as "parts shown". `more`: said behind the default."""
    parser.add_argument("--rows", metavar="N", type=_rows, default=30, help=f"{what} (default: %(default)s{more})")


def _rows(text: str) -> int:
    try:
        rows = int(text)
    except ValueError:
        rows = 0
    if rows < 1:
        raise argparse.ArgumentTypeError(f"'{text}'; expected a whole number above 0")
    return rows
