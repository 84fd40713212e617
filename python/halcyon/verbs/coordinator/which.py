"""Which coordinator a command speaks to."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from halcyon.coordinate.connection import Connection


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="coordinators.yaml (default: $HALCYON_COORDINATORS_FILE, else /etc/halcyon/coordinators.yaml)",
    )
    parser.add_argument("--name", metavar="NAME", help="which of its coordinators; needed where there are several")
    parser.add_argument("--address", metavar="ADDRESS", help="of the coordinator, instead of a file")


def connect(arguments: argparse.Namespace) -> "tuple[str, Connection]":
    """Its name, and a connection to it."""
    from halcyon.coordinate.address import parse_addresses
    from halcyon.coordinate.configuration import choose, default_file
    from halcyon.coordinate.connection import connect_to_any

    if arguments.address:
        return arguments.address, connect_to_any(parse_addresses(arguments.address))
    chosen = choose(arguments.config or default_file(), arguments.name)
    return chosen.name, connect_to_any(chosen.addresses, chosen.munge_socket)
