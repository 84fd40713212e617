"""The compiled client of these tests stores nothing and remembers everything: recording_client.c says how."""

import ctypes
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ELEMENTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")


class Recording:
    """The C functions of recording_client.h."""

    def __init__(self, library: Path) -> None:
        self._c = ctypes.CDLL(str(library))
        self._c.recording_calls.restype = ctypes.c_char_p
        self._c.recording_data.restype = ctypes.c_void_p
        self._c.recording_address.restype = ctypes.c_void_p

    def reset(self) -> None:
        self._c.recording_reset()

    def declare(self, variable: str, dtype: str, shape: tuple[int, ...]) -> None:
        dimensions = (ctypes.c_int64 * len(shape))(*shape)
        self._c.recording_declare(variable.encode(), ELEMENTS.index(dtype), len(shape), dimensions)

    def fail_next(self, code: int, message: str) -> None:
        self._c.recording_fail_next(code, message.encode())

    @property
    def calls(self) -> list[str]:
        text: bytes = self._c.recording_calls()
        return text.decode().splitlines()

    @property
    def address(self) -> int:
        """Where the data last written or committed came from."""
        return int(self._c.recording_address())

    def data(self, nbytes: int) -> bytes:
        """The data last written or committed."""
        return ctypes.string_at(self._c.recording_data(), nbytes)


def _load_client(library: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("halcyon._client", library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LIBRARY = Path(os.environ["RECORDING_CLIENT"])
sys.modules["halcyon._client"] = _load_client(LIBRARY)


@pytest.fixture
def recording() -> Iterator[Recording]:
    calls = Recording(LIBRARY)
    calls.reset()
    yield calls
    calls.reset()
