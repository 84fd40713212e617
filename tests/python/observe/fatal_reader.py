"""A reader that fails in the way that its file's name says."""

import ctypes
import errno
import os
import signal
import sys
from pathlib import Path

from halcyon.errors import HalcyonSystemError


def read(path: Path, directory: Path) -> None:
    match path.name:
        case "abort":
            os.abort()
        case "segv":
            ctypes.string_at(0)
        case "real-time":
            os.kill(os.getpid(), 40)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "no-room":
            raise OSError(errno.ENOSPC, "No space left on device", "/tmp/staged")
        case "circles":
            signal.pause()
        case "exits":
            print("libthing: error: no such record", file=sys.stderr)
            os._exit(3)
        case "chatter":
            print("the library prints this to standard output")
            raise HalcyonSystemError("disk: full")
