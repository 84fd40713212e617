"""Compares the stored data of two runs: values and what describes them, wherever they lie.

Two runs are equal when every block (variable, domain, iteration) is there in both with equal elements, shape and
place, when variables are described alike, and when the same blocks are recorded as missing. Which file, part, node or
client wrote a block does not matter, nor how it was chunked or compressed. Where all servers of a run wrote together,
placed variables are one array without ghost layers: then the wholes are compared, on the other side put together. NaN
equals NaN. HDF5 files that are not Halcyon's (those of the other output approaches) are compared dataset by dataset, by
their paths.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from halcyon.errors import HalcyonSystemError, UsageError

_DATA_FILE = re.compile(r"\.i\d{8,}(?:\.p\d{2,})?\.h5$")
_DOMAIN = re.compile(r"^d(\d{6,})(?:\.\d+)?$")
_WHOLE_NAME = re.compile(r"^whole(?:\.\d+)?$")
_WHOLE = -1
"""Domain of a dataset that holds all blocks of a placed variable."""
_PLACE_ATTRIBUTES = ("global", "offset", "ghost_before", "ghost_after")


@dataclass(frozen=True)
class Difference:
    """Something that A and B do not agree on."""

    what: str
    """What differs: `theta, domain 3, iteration 5`, `theta: attribute unit`, …"""
    a: str
    b: str

    def __str__(self) -> str:
        return f"{self.what}: {self.a} | {self.b}"


@dataclass(frozen=True, order=True)
class _Key:
    variable: str
    domain: int
    iteration: int | None
    """None: a time-invariant variable."""

    def __str__(self) -> str:
        when = "" if self.iteration is None else f", iteration {self.iteration}"
        return f"{self.variable}, domain {self.domain}{when}"


@dataclass(frozen=True)
class _Block:
    """Where a block lies; its elements are read when they are compared."""

    file: Path
    dataset: str
    row: int
    place: dict[str, tuple[int, ...]]


class _Contents:
    """What the files of a run hold, without the elements."""

    def __init__(self) -> None:
        self.blocks: dict[_Key, _Block] = {}
        self.descriptions: dict[str, dict[str, object]] = {}
        self.missing: set[tuple[str, int, int, int, str]] = set()
        self.iterations: set[int] = set()
        self.plain: dict[str, Path] = {}

    def whole_variables(self) -> set[str]:
        return {key.variable for key in self.blocks if key.domain == _WHOLE}

    def times(self, variable: str) -> dict[int | None, list[_Block]]:
        """The blocks of each iteration; single ones after the whole, which they replace in part."""
        found: dict[int | None, list[_Block]] = {}
        for key in sorted((k for k in self.blocks if k.variable == variable), key=_order):
            found.setdefault(key.iteration, []).append(self.blocks[key])
        return found


def diff(a: Path, b: Path, iterations: range | None = None) -> list[Difference]:
    """Compares two run directories, or two files; the order of the list is that of variables, domains, iterations.

    Given `iterations`, blocks of others do not matter. Files that are not Halcyon's have none: they are compared whole.

    Raises UsageError when a path holds no data of the store, HalcyonSystemError when a file cannot be read.
    """
    left, right = _contents(a, iterations), _contents(b, iterations)
    found = list(_compare_descriptions(left, right))
    found += _compare_missing(left, right)
    with _Readers() as readers:
        wholes = left.whole_variables() | right.whole_variables()
        for key in sorted(left.blocks.keys() | right.blocks.keys(), key=_order):
            if key.variable not in wholes:
                found += _compare_block(key, left.blocks.get(key), right.blocks.get(key), readers)
        for name in sorted(wholes):
            found += _compare_wholes(name, left.times(name), right.times(name), readers)
        for name in sorted(left.plain.keys() | right.plain.keys()):
            found += _compare_plain(name, left.plain.get(name), right.plain.get(name), readers)
    return found


def _order(key: _Key) -> tuple[str, int, int]:
    return (key.variable, key.domain, -1 if key.iteration is None else key.iteration)


class _Readers:
    """Open files; as many as a comparison touches at a time."""

    _MOST = 64

    def __init__(self) -> None:
        self._open: dict[Path, h5py.File] = {}

    def __enter__(self) -> "_Readers":
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._open.values():
            file.close()

    def file(self, path: Path) -> h5py.File:
        if path not in self._open:
            if len(self._open) >= self._MOST:
                self._open.pop(next(iter(self._open))).close()
            self._open[path] = _open(path)
        return self._open[path]


def _open(path: Path) -> h5py.File:
    try:
        return h5py.File(path, "r", locking=False)
    except OSError as cause:
        raise HalcyonSystemError(f"{path}: not readable as HDF5: {cause}", cause.errno, str(path)) from cause


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path}: neither a directory nor a file")
    files = sorted(f for f in path.glob("*.h5") if not f.name.startswith("."))
    data = [f for f in files if _DATA_FILE.search(f.name)]
    if data:
        return data
    if files:
        return files
    raise UsageError(f"{path}: holds no HDF5 files; give the directory of a store or one of its files")


def _contents(path: Path, wanted: range | None) -> _Contents:
    contents = _Contents()
    files = _files(path)
    # Later parts of an iteration replace earlier ones, as in the view.
    for file in sorted(files, key=lambda f: (_first_iteration(f), _part(f), f.name)):
        with _open(file) as opened:
            if opened.attrs.get("format") == "halcyon":
                _take_store_file(contents, file, opened, wanted)
            else:
                _take_plain_file(contents, file, opened, prefix=f"{file.name}:" if len(files) > 1 else "")
    return contents


def _first_iteration(file: Path) -> int:
    found = re.search(r"\.i(\d{8,})(?:\.p\d{2,})?\.h5$", file.name)
    return int(found.group(1)) if found else -1


def _part(file: Path) -> int:
    found = re.search(r"\.p(\d{2,})\.h5$", file.name)
    return int(found.group(1)) if found else 0


def _take_plain_file(contents: _Contents, path: Path, file: h5py.File, prefix: str) -> None:
    def take(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            contents.plain[f"{prefix}/{name}"] = path

    file.visititems(take)


def _take_store_file(contents: _Contents, path: Path, file: h5py.File, wanted: range | None) -> None:
    def is_wanted(iteration: int) -> bool:
        return wanted is None or iteration in wanted

    iterations = [int(i) for i in file[".halcyon/iterations"][()]]
    contents.iterations.update(filter(is_wanted, iterations))
    if ".halcyon/missing" in file:
        table = file[".halcyon/missing"]
        reasons = [str(r) for r in table.attrs["reasons"]]
        names = file[".halcyon/missing_variables"].asstr()[()]
        for name, (iteration, rank, block, reason) in zip(names, table[()].tolist(), strict=True):
            if is_wanted(iteration):
                contents.missing.add((str(name), iteration, rank, block, reasons[reason]))
    for name, group in _variables(file, ""):
        description = {key: _plain(value) for key, value in group.attrs.items()}
        contents.descriptions[name] = description
        varies = bool(description["time_varying"])
        for dataset_name, dataset in group.items():
            domain = _domain(dataset_name)
            if domain is None or not isinstance(dataset, h5py.Dataset):
                continue
            place = {a: tuple(int(v) for v in dataset.attrs[a]) for a in _PLACE_ATTRIBUTES}
            rows = dataset.attrs["rows"].tolist() if "rows" in dataset.attrs else range(dataset.shape[0])
            for row in rows:
                if varies and not is_wanted(iterations[row]):
                    continue
                key = _Key(name, domain, iterations[row] if varies else None)
                contents.blocks[key] = _Block(path, str(dataset.name), int(row), place)


def _domain(dataset_name: str) -> int | None:
    if _WHOLE_NAME.match(dataset_name):
        return _WHOLE
    found = _DOMAIN.match(dataset_name)
    return int(found.group(1)) if found else None


def _variables(group: h5py.Group, prefix: str) -> Iterator[tuple[str, h5py.Group]]:
    for name, item in group.items():
        if not isinstance(item, h5py.Group) or (not prefix and name == ".halcyon"):
            continue
        if "time_varying" in item.attrs:
            yield prefix + name, item
        yield from _variables(item, f"{prefix}{name}/")


def _plain(value: Any) -> object:
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return value


def _compare_descriptions(left: _Contents, right: _Contents) -> Iterator[Difference]:
    if left.iterations != right.iterations:
        only_a, only_b = left.iterations - right.iterations, right.iterations - left.iterations
        yield Difference("iterations", _only(only_a), _only(only_b))
    for name in sorted(left.descriptions.keys() | right.descriptions.keys()):
        a, b = left.descriptions.get(name), right.descriptions.get(name)
        if a is None or b is None:
            yield Difference(f"variable {name}", _there(a), _there(b))
            continue
        for key in sorted(a.keys() | b.keys()):
            if a.get(key) != b.get(key):
                yield Difference(f"{name}: attribute {key}", str(a.get(key, "absent")), str(b.get(key, "absent")))


def _only(iterations: set[int]) -> str:
    return f"only here: {', '.join(map(str, sorted(iterations)))}" if iterations else "none of its own"


def _there(value: object) -> str:
    return "absent" if value is None else "there"


def _compare_missing(left: _Contents, right: _Contents) -> Iterator[Difference]:
    for entry in sorted(left.missing ^ right.missing):
        name, iteration, rank, block, reason = entry
        what = f"{name}, rank {rank}, block {block}, iteration {iteration}: recorded as missing ({reason})"
        yield Difference(what, "yes" if entry in left.missing else "no", "yes" if entry in right.missing else "no")


def _compare_block(key: _Key, a: _Block | None, b: _Block | None, readers: _Readers) -> Iterator[Difference]:
    if a is None or b is None:
        yield Difference(str(key), _there(a), _there(b))
        return
    for attribute in _PLACE_ATTRIBUTES:
        if a.place[attribute] != b.place[attribute]:
            yield Difference(f"{key}: {attribute}", str(a.place[attribute]), str(b.place[attribute]))
    yield from _compare_values(str(key), readers.file(a.file)[a.dataset][a.row], readers.file(b.file)[b.dataset][b.row])


def _compare_wholes(
    name: str, left: dict[int | None, list[_Block]], right: dict[int | None, list[_Block]], readers: _Readers
) -> Iterator[Difference]:
    for iteration in sorted(left.keys() | right.keys(), key=lambda i: -1 if i is None else i):
        what = name if iteration is None else f"{name}, iteration {iteration}"
        a, b = left.get(iteration), right.get(iteration)
        if a is None or b is None:
            yield Difference(what, _there(a), _there(b))
        else:
            yield from _compare_values(what, _whole_of(a, readers), _whole_of(b, readers))


def _whole_of(blocks: list[_Block], readers: _Readers) -> NDArray[Any]:
    """One iteration of a placed variable as one array; fill where no block lies."""
    first = readers.file(blocks[0].file)[blocks[0].dataset]
    whole = np.full(blocks[0].place["global"], _fill(first.dtype), first.dtype)
    for block in blocks:
        values = readers.file(block.file)[block.dataset][block.row]
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


def _compare_plain(name: str, a: Path | None, b: Path | None, readers: _Readers) -> Iterator[Difference]:
    if a is None or b is None:
        yield Difference(name, _there(a), _there(b))
        return
    path = name.partition(":")[2] or name
    left, right = readers.file(a)[path], readers.file(b)[path]
    yield from _compare_values(name, left[()], right[()])
    attributes_a, attributes_b = _attributes(left), _attributes(right)
    for key in sorted(attributes_a.keys() | attributes_b.keys()):
        if attributes_a.get(key) != attributes_b.get(key):
            value_a, value_b = attributes_a.get(key, "absent"), attributes_b.get(key, "absent")
            yield Difference(f"{name}: attribute {key}", str(value_a), str(value_b))


# Bookkeeping of dimension scales: addresses inside a file, which say nothing across files.
_SCALE_ATTRIBUTES = {"DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates"}


def _attributes(dataset: h5py.Dataset) -> dict[str, object]:
    return {key: repr(_plain(value)) for key, value in dataset.attrs.items() if key not in _SCALE_ATTRIBUTES}


def _compare_values(what: str, a: Any, b: Any) -> Iterator[Difference]:
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
    where = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(unequal)))
    first_a, first_b = np.atleast_1d(left)[where], np.atleast_1d(right)[where]
    at = list(where) if left.ndim else []
    yield Difference(f"{what}: {count} of {left.size} values, the first at {at}", str(first_a), str(first_b))


def _unequal(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    unequal = np.asarray(left != right)
    if np.issubdtype(left.dtype, np.inexact):
        unequal &= ~(np.isnan(left) & np.isnan(right))
    return unequal
