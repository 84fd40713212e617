"""`halcyon coordinator explain`"""

import argparse
import sys

from halcyon.verbs.coordinator import which

SUMMARY = "say why a coordinator decided as it did"
DESCRIPTION = (
    "Prints the latest decisions that changed who may do I/O: who began, who stopped, the reason, and the cost that "
    "was predicted for each alternative, in the coordinator's metric. Once all phases concerned have ended, the "
    "observed cost follows. For administrators, as `halcyon coordinator top`."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    which.add_arguments(parser)
    parser.add_argument("-n", metavar="N", type=int, default=10, help="latest decisions (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.coordinate.printed import print_decisions
    from halcyon.coordinate.state import ask_decisions
    from halcyon.errors import UsageError
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    if not 1 <= arguments.n <= 4096:
        raise UsageError(f"-n {arguments.n}: expected 1 to 4096")
    name, connection = which.connect(arguments)
    with connection:
        told = ask_decisions(connection, arguments.n)
    if arguments.json:
        sys.stdout.write(as_json({"decisions": told}))
    else:
        print_decisions(told, name, console_for_tables())
    return 0
