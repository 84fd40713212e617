#!/usr/bin/env python3
"""How long all tables and findings of a large run take, on two cores: `analyze.py [CALLS]`, by default 10^8 calls.

Makes a data set of invented calls in the current folder first, which is not measured, and removes it. It takes about 8
bytes a call.
"""

import resource
import shutil
import sys
import time
from pathlib import Path

from large_dataset import make
from rounds import Rounds, count, unmet

from halcyon.observe.dataset import Dataset
from halcyon.observe.engines import connect
from halcyon.observe.report_tables import report_tables

CALLS = 100_000_000
BYTES_PER_CALL = 20  # what it may take on disk, at most
TIMES = ("analyze_s", "analyze_processor_s")


def main(arguments: list[str]) -> int:
    calls = int(float(arguments[0])) if arguments else CALLS
    directory = Path("large").absolute()
    if shutil.disk_usage(Path.cwd()).free < 2 * calls * BYTES_PER_CALL:
        for name in TIMES:
            unmet("observe", name, f"{directory.parent} has no room for {calls} calls")
        return 0
    try:
        print(f"making {calls} calls", file=sys.stderr)
        make(directory, calls)
        size = sum(path.stat().st_size for path in directory.rglob("*.parquet"))
        for current in Rounds("observe"):
            begin, begin_busy = time.monotonic(), time.process_time()
            with Dataset.open(directory, connect(threads=2)) as data:
                tables = report_tables(data)
            current.value("analyze_s", time.monotonic() - begin, "s")
            current.value("analyze_processor_s", time.process_time() - begin_busy, "s")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{tables.calls} calls, {len(tables.findings)} findings", file=sys.stderr)
    count("observe", "analyze_calls", tables.calls, "calls")
    count("observe", "analyze_stored", size / tables.calls, "bytes/call")
    count("observe", "analyze_memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, "GB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
