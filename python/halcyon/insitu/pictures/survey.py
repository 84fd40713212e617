"""What nodes must agree on before they draw: ranges of values, and the bounds of the whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError
from halcyon.insitu.pictures.description import Layer, Picture
from halcyon.insitu.pictures.pieces import Piece

Range = tuple[float, float]


@dataclass(frozen=True)
class Survey:
    """Of one node's part, or of several joined."""

    ranges: tuple[Range | None, ...]
    """Of the values that each layer shows; None: there are none."""
    longest: tuple[float, ...]
    """Vector of each layer; 0 without."""
    bounds: NDArray[np.float64] | None
    """Rows of smallest and largest x, y and z, scaled; None: nothing to draw."""

    def joined(self, other: "Survey") -> "Survey":
        ranges = tuple(_joined(a, b) for a, b in zip(self.ranges, other.ranges, strict=True))
        longest = tuple(map(max, self.longest, other.longest))
        if self.bounds is None or other.bounds is None:
            return Survey(ranges, longest, other.bounds if self.bounds is None else self.bounds)
        low = np.minimum(self.bounds[:, 0], other.bounds[:, 0])
        return Survey(ranges, longest, np.stack([low, np.maximum(self.bounds[:, 1], other.bounds[:, 1])], axis=1))

    @property
    def scale(self) -> float:
        """The diagonal of the whole."""
        return 1.0 if self.bounds is None else float(np.linalg.norm(self.bounds[:, 1] - self.bounds[:, 0])) or 1.0


def join(surveys: Sequence[Survey]) -> Survey:
    """Of all nodes. UsageError: there are none."""
    if not surveys:
        raise UsageError("no surveys; expected one of each node")
    return reduce(Survey.joined, surveys)


def survey_of(picture: Picture, pieces: Sequence[Sequence[Piece]]) -> Survey:
    """`pieces`: those of each layer."""
    scale = np.asarray(picture.scale)[:, None]
    boxes = [piece.bounds * scale for of_layer in pieces for piece in of_layer]
    bounds = None
    if boxes:
        stacked = np.stack(boxes)
        bounds = np.stack([stacked[:, :, 0].min(axis=0), stacked[:, :, 1].max(axis=0)], axis=1)
    by_layer = list(zip(picture.layers, pieces, strict=True))
    ranges = tuple(range_of(layer, of_layer) for layer, of_layer in by_layer)
    return Survey(ranges, tuple(_longest(layer, of_layer) for layer, of_layer in by_layer), bounds)


def range_of(layer: Layer, pieces: Sequence[Piece]) -> Range | None:
    """The fixed one, or of what is here. NaN and infinities do not count."""
    if layer.range is not None:
        return layer.range
    found: Range | None = None
    for piece in pieces:
        values = shown_values(layer, piece.fields)
        fit = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        if fit.size:
            found = _joined(found, (float(fit.min()), float(fit.max())))
    return found


def shown_values(layer: Layer, fields: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Of the variable, or the length of the vector."""
    if layer.variable:
        return fields[layer.variable]
    squares = (np.square(fields[name], dtype=np.float64) for name in layer.vector)
    return np.asarray(np.sqrt(sum(squares)))


def _longest(layer: Layer, pieces: Sequence[Piece]) -> float:
    if not layer.vector:
        return 0.0
    found = range_of(replace(layer, variable="", range=None), pieces)
    return found[1] if found else 0.0


def levels_of(layer: Layer, found: Range | None) -> list[float]:
    """Those that are listed, or evenly spaced ones within the range, none at its ends."""
    if not isinstance(layer.levels, int):
        return list(layer.levels)
    if found is None or found[0] == found[1]:
        return []
    return [float(level) for level in np.linspace(*found, layer.levels + 2)[1:-1]]


def _joined(a: Range | None, b: Range | None) -> Range | None:
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), max(a[1], b[1])
