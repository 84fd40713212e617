#!/usr/bin/env python3
"""How long all tables and findings of a large run take: `analyze.py [CALLS]`, by default 10^7 calls.

Makes a data set of invented calls in the current folder first, which is not measured, and removes it. It takes about 8
bytes a call.
"""

import resource
import shutil
import sys
import time
from pathlib import Path

from large_dataset import make

from halcyon.observe.dataset import Dataset
from halcyon.observe.engines import connect
from halcyon.observe.report_tables import report_tables

CALLS = 10_000_000
BYTES_PER_CALL = 20  # what it may take on disk, at most


def main(arguments: list[str]) -> int:
    calls = int(float(arguments[0])) if arguments else CALLS
    directory = Path("large").absolute()
    if shutil.disk_usage(Path.cwd()).free < 2 * calls * BYTES_PER_CALL:
        print(f"left out: {directory.parent} has no room for {calls} calls", file=sys.stderr)
        return 77
    try:
        print(f"making {calls} calls", file=sys.stderr)
        make(directory, calls)
        size = sum(path.stat().st_size for path in directory.rglob("*.parquet"))
        engine = connect(threads=2)
        begin, busy = time.monotonic(), time.process_time()
        tables = report_tables(Dataset.open(directory, engine, verify=False))
        wall, busy = time.monotonic() - begin, time.process_time() - busy
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{tables.calls} calls, {len(tables.findings)} findings", file=sys.stderr)
    print(f"observe.analyze_calls {tables.calls} calls")
    print(f"observe.analyze_stored {size / tables.calls:.2f} bytes/call")
    print(f"observe.analyze_wall {wall:.2f} s")
    print(f"observe.analyze_processor {busy:.2f} s")
    print(f"observe.analyze_rate {tables.calls / wall / 1e6:.3f} Mcalls/s")
    print(f"observe.analyze_memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.3f} GB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
