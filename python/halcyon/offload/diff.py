"""Compares the stored data of two runs: values and what describes them, wherever they lie.

Two runs are equal when every block (variable, domain, iteration) is there in both with equal elements, shape and
place, when variables are described alike, and when the same blocks are recorded as missing. Which file, part, node or
client wrote a block does not matter, nor how it was chunked or compressed. Where all servers of a run wrote together,
placed variables are one array without ghost layers: then the wholes are compared, on the other side put together. NaN
equals NaN. The formats of the stores do not matter either. A run that left no data files differs from one that did.
Files that are not Halcyon's (the HDF5 files of the other output approaches) are compared dataset by dataset, by their
paths.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError
from halcyon.offload.block_reader import BlockReader
from halcyon.offload.data_files import reading
from halcyon.offload.difference_size import DifferenceSize, size_of
from halcyon.offload.stored_blocks import PLACE_ATTRIBUTES, Block, Contents, Key, contents_of


@dataclass(frozen=True)
class Difference:
    """Something that A and B do not agree on."""

    what: str
    """What differs: `theta, domain 3, iteration 5`, `theta: attribute unit`, …"""
    a: str
    b: str
    dataset: str = ""
    """Of differences between values: the variable, or the path of a dataset in a file that is not Halcyon's."""
    size: DifferenceSize | None = None
    """Of differences between numbers: how large they are."""

    def __str__(self) -> str:
        return f"{self.what}: {self.a} | {self.b}"


def diff(a: Path, b: Path, iterations: range | None = None) -> list[Difference]:
    """Compares two run directories, or two files; the order of the list is that of variables, domains, iterations.

    Given `iterations`, blocks of others do not matter. Files that are not Halcyon's have none: they are compared whole.

    Raises UsageError when a path is no run and holds no data files, or when there is nothing to compare: neither side
    has any of the `iterations`, or any data; HalcyonSystemError when a file, or a source of a view, cannot be read.
    """
    if iterations is not None and not iterations:
        raise UsageError(f"no iteration lies from {iterations.start} to {iterations.stop - 1}: nothing to compare")
    left, right = contents_of(a, iterations), contents_of(b, iterations)
    _refuse_nothing(a, b, left, right, iterations)
    found = list(_compare_descriptions(left, right))
    found += _compare_missing(left, right)
    with BlockReader() as readers:
        wholes = left.whole_variables() | right.whole_variables()
        for key in sorted(left.blocks.keys() | right.blocks.keys(), key=Key.order):
            if key.variable not in wholes:
                found += _compare_block(key, left.blocks.get(key), right.blocks.get(key), readers)
        for name in sorted(wholes):
            found += _compare_wholes(name, left.times(name), right.times(name), readers)
        for name in sorted(left.plain.keys() | right.plain.keys()):
            found += _compare_plain(name, left.plain.get(name), right.plain.get(name), readers)
    return found


def largest_differences(differences: Iterable[Difference]) -> dict[str, DifferenceSize]:
    """How large the differences between numbers are in each dataset that has some, in the order of the list."""
    found: dict[str, DifferenceSize] = {}
    for difference in differences:
        if difference.size is not None:
            so_far = found.get(difference.dataset)
            found[difference.dataset] = so_far.joined(difference.size) if so_far else difference.size
    return found


def _refuse_nothing(a: Path, b: Path, left: Contents, right: Contents, iterations: range | None) -> None:
    """Equal because nothing was compared would be no answer."""
    if left.plain or right.plain:
        return
    if iterations is not None and not (left.iterations or right.iterations):
        has = "; ".join(f"{path} has {_span(c.all_iterations)}" for path, c in ((a, left), (b, right)))
        raise UsageError(f"neither side has any of these iterations: {has}")
    if not (left.all_iterations or right.all_iterations):
        raise UsageError(f"neither {a} nor {b} holds data files: nothing to compare")


def _span(iterations: set[int]) -> str:
    return f"{min(iterations)} to {max(iterations)}" if iterations else "none"


def _compare_descriptions(left: Contents, right: Contents) -> Iterator[Difference]:
    if left.iterations != right.iterations:
        only_a, only_b = left.iterations - right.iterations, right.iterations - left.iterations
        yield Difference("iterations", _only(only_a), _only(only_b))
    for name in sorted(left.descriptions.keys() | right.descriptions.keys()):
        a, b = left.descriptions.get(name), right.descriptions.get(name)
        if a is None or b is None:
            yield Difference(f"variable {name}", _there(a), _there(b))
            continue
        for key in sorted({key for description in (*a, *b) for key in description}):
            value_a, value_b = _values(a, key), _values(b, key)
            if value_a != value_b:
                yield Difference(f"{name}: attribute {key}", value_a, value_b)


def _values(descriptions: list[dict[str, object]], key: str) -> str:
    """What the files of a run say: one value, or each that some of them say."""
    said = sorted({str(description.get(key, "absent")) for description in descriptions})
    return said[0] if len(said) == 1 else " and, in other files, ".join(said)


def _only(iterations: set[int]) -> str:
    return f"only here: {', '.join(map(str, sorted(iterations)))}" if iterations else "none of its own"


def _there(value: object) -> str:
    return "absent" if value is None else "there"


def _compare_missing(left: Contents, right: Contents) -> Iterator[Difference]:
    for entry in sorted(left.missing ^ right.missing):
        name, iteration, rank, block, reason = entry
        what = f"{name}, rank {rank}, block {block}, iteration {iteration}: recorded as missing ({reason})"
        yield Difference(what, "yes" if entry in left.missing else "no", "yes" if entry in right.missing else "no")


def _compare_block(key: Key, a: Block | None, b: Block | None, readers: BlockReader) -> Iterator[Difference]:
    if a is None or b is None:
        yield Difference(str(key), _there(a), _there(b))
        return
    for attribute in PLACE_ATTRIBUTES:
        if a.place[attribute] != b.place[attribute]:
            yield Difference(f"{key}: {attribute}", str(a.place[attribute]), str(b.place[attribute]))
    yield from _compare_values(key.variable, str(key), readers.values(a), readers.values(b))


def _compare_wholes(
    name: str, left: dict[int | None, list[Block]], right: dict[int | None, list[Block]], readers: BlockReader
) -> Iterator[Difference]:
    for iteration in sorted(left.keys() | right.keys(), key=lambda i: -1 if i is None else i):
        what = name if iteration is None else f"{name}, iteration {iteration}"
        a, b = left.get(iteration), right.get(iteration)
        if a is None or b is None:
            yield Difference(what, _there(a), _there(b))
        else:
            yield from _compare_values(name, what, _whole_of(a, readers), _whole_of(b, readers))


def _whole_of(blocks: list[Block], readers: BlockReader) -> NDArray[Any]:
    """One iteration of a placed variable as one array; fill where no block lies."""
    element = readers.values(blocks[0]).dtype
    with reading(blocks[0].file):
        whole = np.full(blocks[0].place["global"], _fill(element), element)
    for block in blocks:
        values = readers.values(block)
        with reading(block.file):
            before, after, offset = (block.place[a] for a in ("ghost_before", "ghost_after", "offset"))
            inner = [slice(b, n - a) for b, a, n in zip(before, after, values.shape, strict=True)]
            counts = [s.stop - s.start for s in inner]
            whole[tuple(slice(o, o + n) for o, n in zip(offset, counts, strict=True))] = values[tuple(inner)]
    return whole


def _fill(element: np.dtype[Any]) -> Any:
    """What the store writes where a block is missing."""
    if element.kind == "f":
        return np.nan
    limits = np.iinfo(element)
    return limits.min if element.kind == "i" else limits.max


def _compare_plain(name: str, a: Path | None, b: Path | None, readers: BlockReader) -> Iterator[Difference]:
    if a is None or b is None:
        yield Difference(name, _there(a), _there(b))
        return
    path = name.partition(":")[2] or name
    (values_a, attributes_a), (values_b, attributes_b) = readers.plain(a, path), readers.plain(b, path)
    yield from _compare_values(name, name, values_a, values_b)
    for key in sorted(attributes_a.keys() | attributes_b.keys()):
        if attributes_a.get(key) != attributes_b.get(key):
            said_a, said_b = attributes_a.get(key, "absent"), attributes_b.get(key, "absent")
            yield Difference(f"{name}: attribute {key}", str(said_a), str(said_b))


def _compare_values(dataset: str, what: str, a: Any, b: Any) -> Iterator[Difference]:
    left, right = np.asarray(a), np.asarray(b)
    if left.shape != right.shape:
        yield Difference(f"{what}: shape", str(left.shape), str(right.shape))
        return
    if left.dtype != right.dtype:
        yield Difference(f"{what}: type", str(left.dtype), str(right.dtype))
        return
    unequal = _unequal(left, right)
    count = int(np.count_nonzero(unequal))
    if count == 0:
        return
    values_a, values_b = left[unequal], right[unequal]
    at = [int(i[0]) for i in np.nonzero(unequal)] if left.ndim else []
    told = f"{what}: {count} of {left.size} values, the first at {at}"
    yield Difference(told, str(values_a[0]), str(values_b[0]), dataset, size_of(values_a, values_b))


def _unequal(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    unequal = np.asarray(left != right)
    if np.issubdtype(left.dtype, np.inexact):
        unequal &= ~(np.isnan(left) & np.isnan(right))
    return unequal
