"""Writers that begin at once, each timed until its bytes are at the storage."""

import mmap
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from errno import EINVAL
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Event

from halcyon.errors import HalcyonSystemError

BLOCK_BYTES = 1 << 20
"""Of one write; sizes are multiples of it."""


def takes_direct(file: Path) -> bool:
    """Whether the file can be written around the cache; it is empty afterwards."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_DIRECT)
    except OSError as why:
        if why.errno == EINVAL:
            return False
        raise HalcyonSystemError.of(why, file) from why
    try:
        with mmap.mmap(-1, BLOCK_BYTES) as block:
            os.pwrite(descriptor, block, 0)
        os.ftruncate(descriptor, 0)
    except OSError as why:
        if why.errno == EINVAL:
            return False
        raise HalcyonSystemError.of(why, file) from why
    finally:
        os.close(descriptor)
    return True


def write_together(files: Sequence[Path], size_bytes: int, direct: bool) -> list[float]:
    """Seconds that each writer took for its file, which is emptied before; synced at the end, whether direct or not.

    HalcyonSystemError: one could not. When it raises, an interrupt too, no writer goes on.
    """
    begin, stop = Barrier(len(files)), Event()
    with ThreadPoolExecutor(len(files)) as pool:
        try:
            writers = [pool.submit(_write, file, size_bytes, direct, begin, stop) for file in files]
            return [writer.result() for writer in writers]
        except BaseException as why:
            stop.set()
            begin.abort()
            failed = [writer.exception() for writer in writers] if isinstance(why, BrokenBarrierError) else []
            raise next((one for one in failed if isinstance(one, HalcyonSystemError)), why) from None


def _write(file: Path, size_bytes: int, direct: bool, begin: Barrier, stop: Event) -> float:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_TRUNC | (os.O_DIRECT if direct else 0))
        try:
            with mmap.mmap(-1, BLOCK_BYTES) as block:
                block.write(os.urandom(BLOCK_BYTES))  # storage may compress, or leave out zeros
                begin.wait()
                start = time.monotonic()
                for offset in range(0, size_bytes, BLOCK_BYTES):
                    if stop.is_set():
                        break
                    if os.pwrite(descriptor, block, offset) != BLOCK_BYTES:
                        raise HalcyonSystemError(f"{file}: a write of {BLOCK_BYTES:,} bytes was cut short")
                os.fsync(descriptor)
                return time.monotonic() - start
        finally:
            os.close(descriptor)
    except OSError as why:
        begin.abort()
        if isinstance(why, HalcyonSystemError):
            raise
        raise HalcyonSystemError.of(why, file) from why
