"""Binary columns for the page: small after deflate, quick to read in a browser (web/src/columns.ts reads them).

All columns lie one after the other in one block. A column of n values of w bytes is w planes of n bytes, the lowest
byte of all values first: neighbours resemble each other byte by byte, so deflate finds what repeats. A column with
`delta` holds each value's difference to the one before (the first to 0), modulo 2^(8w).
"""

import base64
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halcyon.errors import InternalError
from halcyon.observe.viewer.document import Column

TYPES: dict[str, npt.DTypeLike] = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "i64": "<i8"}

_LEVEL = 6  # of deflate; 9 takes three times as long for a tenth of the size


@dataclass(frozen=True)
class Values:
    """A column before it is written. `delta` pays for values that grow slowly: times, offsets."""

    name: str
    type: str
    array: npt.NDArray[np.generic]
    delta: bool = False


def describe(values: Values) -> Column:
    """What the viewer must know to read it."""
    return Column(values.name, values.type, values.delta, len(values.array))


def encode(columns: list[Values]) -> str:
    """The block of all columns, deflated (zlib) and in base64.

    Raises InternalError when a value does not fit the column's type.
    """
    compressor = zlib.compressobj(_LEVEL)
    parts = [part for values in columns for part in (compressor.compress(plane) for plane in _planes(values)) if part]
    return base64.b64encode(b"".join([*parts, compressor.flush()])).decode("ascii")


def _planes(values: Values) -> list[bytes]:
    typed = _fitting(values)
    if values.delta and len(typed):
        typed = np.diff(typed, prepend=typed.dtype.type(0))
    by_byte = typed.view(np.uint8).reshape(len(typed), typed.dtype.itemsize)
    return [np.ascontiguousarray(by_byte[:, byte]).tobytes() for byte in range(typed.dtype.itemsize)]


def _fitting(values: Values) -> npt.NDArray[np.integer]:
    typed = np.ascontiguousarray(values.array).astype(TYPES[values.type])
    if not np.array_equal(typed, values.array):
        raise InternalError(f"viewer: column {values.name} has values that are no {values.type}")
    return typed
