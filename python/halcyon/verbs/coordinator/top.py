"""`halcyon coordinator top`"""

import argparse
import sys
import time

from halcyon.verbs.coordinator import which
from halcyon.verbs.rows_option import add_rows

SUMMARY = "show who has the turn at a file system, and who waits how long"
DESCRIPTION = (
    "Prints the applications that a coordinator knows: first those that have the turn, then those that wait, with the "
    "expected wait. A last line counts what was refused, lost or timed out. For administrators: root, the user of the "
    "daemon, and users whom its configuration names."
)

LONGEST_S = 86_400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    which.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")
    parser.add_argument(
        "--watch",
        metavar="SECONDS",
        type=float,
        nargs="?",
        const=2.0,
        help="again and again until Ctrl-C, every SECONDS (default: 2)",
    )
    add_rows(parser, "applications shown")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.coordinate.printed import print_top
    from halcyon.coordinate.state import ask_top
    from halcyon.errors import UsageError
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    if arguments.watch is not None and not 0 < arguments.watch <= LONGEST_S:
        raise UsageError(f"--watch {arguments.watch:g}: expected seconds above 0, and at most {LONGEST_S:,}")
    name, connection = which.connect(arguments)
    with connection:
        try:
            while True:
                told = ask_top(connection)
                console = console_for_tables()  # whose terminal may be another size by now
                if arguments.json:
                    sys.stdout.write(as_json(told))
                else:
                    if arguments.watch is not None:
                        console.clear()
                    print_top(told, name, console, arguments.rows)
                if arguments.watch is None:
                    return 0
                sys.stdout.flush()
                time.sleep(arguments.watch)
        except KeyboardInterrupt:
            return 0
