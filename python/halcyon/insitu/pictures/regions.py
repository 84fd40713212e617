"""Regions of interest: which blocks are drawn with all their points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError
from halcyon.insitu.pictures.expression import BlockExpression
from halcyon.insitu.pictures.frame import Frame, Key

MEASURES = ("range", "entropy")
_BINS = 64


@dataclass(frozen=True)
class Regions:
    where: BlockExpression | None = None
    """Blocks for which it holds are drawn in full; None: by `measure`."""
    measure: str = "range"
    """Score of a block: how far apart its values lie, or the entropy of their histogram over the range of all."""
    keep: float = 0.25
    """The share of blocks with the highest scores that are drawn in full; those of score 0 are not."""
    coarsen: int = 4
    """Of other blocks every so many points are drawn, in each dimension, and those at their ends."""
    edge: int = 16
    """Larger blocks are divided into boxes of about so many values along each side."""

    @property
    def names(self) -> tuple[str, ...]:
        return self.where.names if self.where else ()


@dataclass(frozen=True)
class Saving:
    """What regions saved in one picture, on one node."""

    blocks: int
    full_blocks: int
    full_bytes: int
    """Of the values that would have been drawn without regions."""
    drawn_bytes: int
    seconds: float | None = None
    """Of drawing the frame with regions; only where both were drawn to compare."""
    full_seconds: float | None = None
    """Of drawing it without."""

    @property
    def saved_bytes(self) -> int:
        return self.full_bytes - self.drawn_bytes

    @property
    def saved_seconds(self) -> float | None:
        return None if self.seconds is None or self.full_seconds is None else self.full_seconds - self.seconds


def parse_regions(said: Any, where: str) -> Regions:
    """`auto`, an expression, or a map with `where` or `auto`, `keep` and `coarsen`."""
    if isinstance(said, str):
        return Regions() if said == "auto" else Regions(BlockExpression(said, where))
    if not isinstance(said, Mapping):
        raise UsageError(f"{where}: {said!r}; expected auto, a condition such as max(qr) > 1e-4, or a map")
    unknown = [key for key in said if key not in ("where", "auto", "keep", "coarsen", "edge")]
    if unknown:
        raise UsageError(f"{where}.{unknown[0]}: unknown key; known keys: auto, coarsen, edge, keep, where")
    if ("where" in said) == ("auto" in said):
        raise UsageError(f"{where}: expected where: a condition, or auto: range or entropy, and not both")
    keep, coarsen, edge = said.get("keep", 0.25), said.get("coarsen", 4), said.get("edge", 16)
    if isinstance(keep, str) and keep.strip().endswith("%"):
        keep = _percent(keep)
    if not isinstance(keep, int | float) or isinstance(keep, bool) or not 0 <= keep <= 1:
        raise UsageError(f"{where}.keep: {said['keep']!r}; expected a share from 0 to 1, or such as 25 %")
    for name, value, least in (("coarsen", coarsen, 1), ("edge", edge, 2)):
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 1024:
            raise UsageError(f"{where}.{name}: {value!r}; expected a whole number from {least} to 1024")
    if "where" in said:
        return Regions(BlockExpression(str(said["where"]), f"{where}.where"), coarsen=coarsen, edge=edge)
    if said["auto"] not in MEASURES:
        raise UsageError(f"{where}.auto: {said['auto']!r}; expected one of {', '.join(MEASURES)}")
    return Regions(None, said["auto"], float(keep), coarsen, edge)


def _percent(text: str) -> float:
    try:
        return float(text.strip().removesuffix("%")) / 100
    except ValueError:
        return -1.0


def strides(regions: Regions, frame: Frame, variable: str, keys: Sequence[Key]) -> dict[Key, int]:
    """Of each block: 1 where it is drawn in full. `variable`: whose values are measured.

    The blocks of one node are compared with one another: nodes decide without a word to each other.
    """
    if regions.where is not None:
        chosen = {key for key in keys if _holds(regions.where, frame, key)}
    else:
        scores = scores_of(regions.measure, [frame.blocks_of(variable)[key].inner() for key in keys])
        best = np.argsort(-scores, kind="stable")[: ceil(regions.keep * len(keys))]
        chosen = {keys[i] for i in best if scores[i] > 0}
    return {key: 1 if key in chosen else regions.coarsen for key in keys}


def _holds(where: BlockExpression, frame: Frame, key: Key) -> bool:
    values: dict[str, NDArray[Any]] = {}
    for name in where.names:
        frame.variable(name)
        found = frame.blocks_of(name).get(key)
        if found is None or not found.inner().size:
            return False
        values[name] = found.inner()
    return where.holds(values)


def scores_of(measure: str, blocks: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """NaN and infinities do not count."""
    lows, highs = np.zeros(len(blocks)), np.zeros(len(blocks))
    for i, values in enumerate(blocks):
        fit = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        if fit.size:
            lows[i], highs[i] = float(fit.min()), float(fit.max())
    if measure == "range" or not len(blocks):
        return highs - lows
    low, high = lows.min(), highs.max()
    if low == high:
        return np.zeros(len(blocks))
    return np.array([_entropy(values, low, high) for values in blocks])


def _entropy(values: NDArray[Any], low: float, high: float) -> float:
    """In bits."""
    counts, _ = np.histogram(values[np.isfinite(values)], _BINS, (low, high))
    shares = counts[counts > 0] / max(1, counts.sum())
    return float(-(shares * np.log2(shares)).sum()) + 0.0
