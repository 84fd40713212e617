"""Files of models, put together by hand as model_file.hpp says."""

import struct
from pathlib import Path

HEADER_BYTES = 32
_VERSION = 4
_STEPS_BYTES = 6 * (8 + 1)  # of a class of files
_WORD = (1 << 64) - 1


def join(into: Path, *models: Path) -> Path:
    """A process of as many threads as there are files, whose classes and labels must be those of the first one."""
    whole = models[0].read_bytes()
    contents = [path.read_bytes() for path in models]
    shared = whole[HEADER_BYTES : _models_begin(whole)]
    body = shared + b"".join(one[_models_begin(one) :] for one in contents)
    header = b"HALCMODL" + struct.pack("<IIQQ", _VERSION, len(models), HEADER_BYTES + len(body), _check_sum(body))
    into.write_bytes(header + body)
    return into


def _models_begin(contents: bytes) -> int:
    at = HEADER_BYTES

    def number() -> int:
        nonlocal at
        at += 4
        return int.from_bytes(contents[at - 4 : at], "little")

    for _ in range(number()):
        length = number()
        at += length + _STEPS_BYTES
    for _ in range(number()):
        at += 5  # subject, number
        length = number()
        at += length
    return at


def _check_sum(body: bytes) -> int:
    total = _mixed(len(body))
    for begin in range(0, len(body), 8):
        total = _mixed(total ^ int.from_bytes(body[begin : begin + 8], "little"))
    return total


def _mixed(word: int) -> int:
    for _ in range(2):
        word ^= word >> 32
        word = word * 0xD6E8FEB86659FD93 & _WORD
    return word ^ word >> 32
