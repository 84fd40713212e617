#!/usr/bin/env python3
"""How long all tables and findings of a large run take, on two cores: `analyze.py [CALLS [TIMES]]`, by default 10^8
calls, three times.

Makes a data set of invented calls in the current folder first, which is not measured, and removes it. It takes about 8
bytes a call.
"""

import resource
import shutil
import sys
import time
from pathlib import Path

from figures import show
from large_dataset import make

from halcyon.observe.dataset import Dataset
from halcyon.observe.engines import connect
from halcyon.observe.report_tables import report_tables

CALLS = 100_000_000
TIMES = 3
BYTES_PER_CALL = 20  # what it may take on disk, at most


def main(arguments: list[str]) -> int:
    calls = int(float(arguments[0])) if arguments else CALLS
    times = int(arguments[1]) if len(arguments) > 1 else TIMES
    directory = Path("large").absolute()
    if shutil.disk_usage(Path.cwd()).free < 2 * calls * BYTES_PER_CALL:
        print(f"left out: {directory.parent} has no room for {calls} calls", file=sys.stderr)
        return 77
    try:
        print(f"making {calls} calls", file=sys.stderr)
        make(directory, calls)
        size = sum(path.stat().st_size for path in directory.rglob("*.parquet"))
        wall, busy = [], []
        for _ in range(times):
            begin, begin_busy = time.monotonic(), time.process_time()
            with Dataset.open(directory, connect(threads=2)) as data:
                tables = report_tables(data)
            wall.append(time.monotonic() - begin)
            busy.append(time.process_time() - begin_busy)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{tables.calls} calls, {len(tables.findings)} findings", file=sys.stderr)
    show("analyze_s", wall, "s")
    show("analyze_processor_s", busy, "s")
    show("analyze_calls", [tables.calls], "calls")
    show("analyze_stored", [size / tables.calls], "bytes/call")
    show("analyze_memory", [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6], "GB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
