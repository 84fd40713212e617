"""Runs a command as on a file system that cannot exchange two names, nor promise that a rename replaces nothing: NFS.

python no_exchange.py COMMAND...
"""

import ctypes
import os
import platform
import sys
from pathlib import Path

UNDER = (sys.executable, str(Path(__file__).resolve()))
"""Words in front of a command."""

_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}
_EINVAL = 22


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def refuse_flags() -> None:
    """From now on, for this process and those that it starts."""
    load, jump_if_equal, give = 0x20, 0x15, 0x06
    fifth_argument = 16 + 4 * 8
    listed = (_Instruction * 6)(
        (load, 0, 0, 0),
        (jump_if_equal, 0, 3, _RENAMEAT2[platform.machine()]),
        (load, 0, 0, fifth_argument),
        (jump_if_equal, 1, 0, 0),
        (give, 0, 0, 0x00050000 | _EINVAL),
        (give, 0, 0, 0x7FFF0000),
    )
    program = _Program(len(listed), listed)
    libc = ctypes.CDLL(None, use_errno=True)
    set_no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    libc.prctl(set_no_new_privileges, 1, 0, 0, 0)
    if libc.prctl(set_seccomp, by_filter, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    refuse_flags()
    os.execvp(sys.argv[1], sys.argv[1:])
