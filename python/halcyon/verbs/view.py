"""`halcyon view RUN`"""

import argparse
import sys
from pathlib import Path

SUMMARY = "rebuild the view over a run's files"
DESCRIPTION = (
    "Rebuilds the file in which every variable of a run is one array over (time, …), from the files that its "
    "servers published. The old view is replaced by rename."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_directory", metavar="RUN", type=Path, help="directory of the run")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.compiled import core
    from halcyon.offload.data_files import formats_with_view
    from halcyon.quantities import plural

    for known in formats_with_view(arguments.run_directory):
        view = core().rebuild_view(str(arguments.run_directory), known.store_type)
        print(f"{plural(view.iterations, 'iteration')} in the view", flush=True)
        for remark in view.remarks:
            print(f"halcyon: warning: {remark}", file=sys.stderr)
    return 0
