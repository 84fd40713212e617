"""Which coordinator a command speaks to."""

import argparse
import errno
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from halcyon.coordinate.connection import Connection


def add_arguments(parser: argparse.ArgumentParser, *, every: bool = False) -> None:
    """`every`: without --name the command speaks to all of them."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="coordinators.yaml (default: $HALCYON_COORDINATORS_FILE, else /etc/halcyon/coordinators.yaml)",
    )
    without = "default: all of them" if every else "needed where there are several"
    parser.add_argument("--name", metavar="NAME", help=f"which of its coordinators; {without}")
    parser.add_argument("--address", metavar="ADDRESS", help="of the coordinator, instead of a file")


def file_of(arguments: argparse.Namespace) -> Path:
    """coordinators.yaml. HalcyonSystemError: it is not there."""
    from halcyon.coordinate.configuration import default_file
    from halcyon.errors import HalcyonSystemError

    file: Path = arguments.config or default_file()
    if not file.exists():
        way_out = "name a coordinator: --address ADDRESS, or another file: --config FILE"
        raise HalcyonSystemError(f"{file}: No such file or directory; {way_out}", errno.ENOENT, str(file))
    return file


def connect(arguments: argparse.Namespace) -> "tuple[str, Connection]":
    """Its name, and a connection to it."""
    from halcyon.coordinate.address import parse_addresses
    from halcyon.coordinate.configuration import choose
    from halcyon.coordinate.connection import connect_to_any

    if arguments.address:
        return arguments.address, connect_to_any(parse_addresses(arguments.address))
    chosen = choose(file_of(arguments), arguments.name)
    return chosen.name, connect_to_any(chosen.addresses, chosen.munge_socket, user=chosen.user)


def tell_all(arguments: argparse.Namespace, tell: "Callable[[Connection], None]") -> list[str]:
    """To the one that is named, else to all of them, whoever fails. Then the failures of all are raised, as the first
    of them. Returns the names of those that were told."""
    from halcyon.coordinate.configuration import read_coordinators
    from halcyon.coordinate.jobs import tell_each

    if arguments.address or arguments.name:
        name, connection = connect(arguments)
        with connection:
            tell(connection)
        return [name]
    told = tell_each(read_coordinators(file_of(arguments)), tell)
    if told.failed:
        first = next(iter(told.failed.values()))
        raise type(first)("; ".join(map(str, told.failed.values()))) from first
    return told.names
