"""`halcyon summary RUN…`"""

import argparse
import sys
from pathlib import Path

from halcyon.errors import ConfigError, UsageError

SUMMARY = "print what happened in a run, or compare several"
DESCRIPTION = (
    "Prints what runs left behind: first the counts of whatever was dropped, skipped, spilled, inlined, switched, "
    "incomplete, restarted or lost, then times, bytes and throughput. Several runs are compared side by side."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="directory of a run (holds run.json)")
    parser.add_argument("--json", action="store_true", help="print numbers for machines, in SI units")


def run(arguments: argparse.Namespace) -> int:
    for path in arguments.runs:
        _refuse_recording(path)
    from halcyon.offload.comparison import open_comparison
    from halcyon.offload.summary.machine import as_json
    from halcyon.offload.summary.text import print_summary

    comparison = open_comparison(arguments.runs)
    if arguments.json:
        sys.stdout.write(as_json(comparison))
    else:
        print_summary(comparison)
    return 0


def _refuse_recording(path: Path) -> None:
    """UsageError: `path` is a run of another kind, which another verb reads."""
    if not path.exists() or path.name == "run.json" or (path / "run.json").is_file():
        return
    from halcyon.observe.open_run import names_a_run
    from halcyon.observe.recording.folder import why_nothing_is_in

    try:
        recorded = names_a_run(path)
    except ConfigError:  # no run of any kind
        return
    if recorded and (why := why_nothing_is_in(path)):
        raise UsageError(f"{path}: {why}")
    if recorded:
        raise UsageError(
            f"{path}: a recording of calls, or another tool's trace, not the output of a run: `halcyon analyze {path}` "
            f"prints what it shows, `halcyon report {path}` writes its page"
        )
