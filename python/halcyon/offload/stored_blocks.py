"""What the HDF5 files of a run hold, block by block, for those who compare runs.

Of a run of Halcyon's servers that is every block with its place, whichever file, part, node or client wrote it, and how
variables are described. Of other HDF5 files it is the datasets, by their paths.
"""

import errno
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from halcyon.errors import HalcyonError, HalcyonSystemError, UsageError
from halcyon.whole_text import read_whole_text

_DATA_FILE = re.compile(r"\.i\d{8,}(?:\.p\d{2,})?\.h5$")
_DOMAIN = re.compile(r"^d(\d{6,})(?:\.\d+)?$")
_WHOLE_PATTERN = re.compile(r"^whole(?:\.\d+)?$")
WHOLE = -1
"""Domain of a dataset that holds all blocks of a placed variable."""
PLACE_ATTRIBUTES = ("global", "offset", "ghost_before", "ghost_after")


@dataclass(frozen=True)
class Key:
    variable: str
    domain: int
    iteration: int | None
    """None: a time-invariant variable."""

    def order(self) -> tuple[str, int, int]:
        """To sort by; iterations may be None."""
        return (self.variable, self.domain, -1 if self.iteration is None else self.iteration)

    def __str__(self) -> str:
        when = "" if self.iteration is None else f", iteration {self.iteration}"
        return f"{self.variable}, domain {self.domain}{when}"


@dataclass(frozen=True)
class Block:
    """Where a block lies; its elements are read when they are compared."""

    file: Path
    dataset: str
    row: int
    place: dict[str, tuple[int, ...]]


class Contents:
    """What the files of a run hold, without the elements."""

    def __init__(self) -> None:
        self.blocks: dict[Key, Block] = {}
        self.descriptions: dict[str, list[dict[str, object]]] = {}
        """Of each variable: as its files describe it, which is more than one way where they disagree."""
        self.missing: set[tuple[str, int, int, int, str]] = set()
        self.iterations: set[int] = set()
        """Those that are compared."""
        self.all_iterations: set[int] = set()
        self.plain: dict[str, Path] = {}

    def whole_variables(self) -> set[str]:
        return {key.variable for key in self.blocks if key.domain == WHOLE}

    def times(self, variable: str) -> dict[int | None, list[Block]]:
        """The blocks of each iteration; single ones after the whole, which they replace in part."""
        found: dict[int | None, list[Block]] = {}
        for key in sorted((k for k in self.blocks if k.variable == variable), key=Key.order):
            found.setdefault(key.iteration, []).append(self.blocks[key])
        return found


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Around whatever reads `path`: what HDF5 and NumPy raise when its bytes make no sense becomes one kind of error.

    Raises HalcyonSystemError with the file's name.
    """
    try:
        yield
    except HalcyonError:
        raise
    except (
        OSError,
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as why:
        told = str(why) or type(why).__name__
        raise HalcyonSystemError(
            f"{path}: damaged, or not what Halcyon writes: {told}", getattr(why, "errno", None), str(path)
        ) from why


def open_hdf5(path: Path) -> h5py.File:
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
    # What is left of a run without its data files is a view of nothing.
    if data or _is_run_of_servers(path):
        return data
    if files:
        return files
    raise UsageError(f"{path}: holds no HDF5 files; give the directory of a store or one of its files")


def _is_run_of_servers(path: Path) -> bool:
    try:
        return str(json.loads(read_whole_text(path / "run.json"))["approach"]).startswith("halcyon")
    except (OSError, ValueError, LookupError, TypeError):
        return False


def contents_of(path: Path, wanted: range | None) -> Contents:
    contents = Contents()
    files = _files(path)
    # Later parts of an iteration replace earlier ones, as in the view.
    for file in sorted(files, key=lambda f: (_first_iteration(f), _part(f), f.name)):
        with open_hdf5(file) as opened, reading(file):
            if opened.attrs.get("format") == "halcyon":
                _take_store_file(contents, file, opened, wanted)
            else:
                _refuse_lost_sources(file, opened)
                _take_plain_file(contents, file, opened, prefix=f"{file.name}:" if len(files) > 1 else "")
    return contents


def _first_iteration(file: Path) -> int:
    found = re.search(r"\.i(\d{8,})(?:\.p\d{2,})?\.h5$", file.name)
    return int(found.group(1)) if found else -1


def _part(file: Path) -> int:
    found = re.search(r"\.p(\d{2,})\.h5$", file.name)
    return int(found.group(1)) if found else 0


def _refuse_lost_sources(path: Path, file: h5py.File) -> None:
    """HDF5 reads a virtual dataset without its sources as fill: two such would be equal."""
    sources: set[str] = set()

    def look(_: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and item.is_virtual:
            sources.update(source.file_name for source in item.virtual_sources())

    file.visititems(look)
    for name in sorted(sources - {"."}):
        # HDF5 writes a '%' of a source's name twice.
        source = path.parent / name.replace("%%", "%")
        if not source.exists():
            raise HalcyonSystemError(
                f"{path}: shows data of {source.name}, which is not there", errno.ENOENT, str(source)
            )


def _take_plain_file(contents: Contents, path: Path, file: h5py.File, prefix: str) -> None:
    def take(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            contents.plain[f"{prefix}/{name}"] = path

    file.visititems(take)


def _take_store_file(contents: Contents, path: Path, file: h5py.File, wanted: range | None) -> None:
    def is_wanted(iteration: int) -> bool:
        return wanted is None or iteration in wanted

    iterations = [int(i) for i in file[".halcyon/iterations"][()]]
    contents.all_iterations.update(iterations)
    contents.iterations.update(filter(is_wanted, iterations))
    if ".halcyon/missing" in file:
        table = file[".halcyon/missing"]
        reasons = [str(r) for r in table.attrs["reasons"]]
        names = file[".halcyon/missing_variables"].asstr()[()]
        for name, (iteration, rank, block, reason) in zip(names, table[()].tolist(), strict=True):
            if is_wanted(iteration):
                contents.missing.add((str(name), iteration, rank, block, reasons[reason]))
    for name, group in _variables(file, ""):
        description = {key: plain(value) for key, value in group.attrs.items()}
        known = contents.descriptions.setdefault(name, [])
        if description not in known:
            known.append(description)
        varies = bool(description["time_varying"])
        for dataset_name, dataset in group.items():
            domain = _domain(dataset_name)
            if domain is None or not isinstance(dataset, h5py.Dataset):
                continue
            place = {a: tuple(int(v) for v in dataset.attrs[a]) for a in PLACE_ATTRIBUTES}
            rows = dataset.attrs["rows"].tolist() if "rows" in dataset.attrs else range(dataset.shape[0])
            if len(rows) > max(1, len(iterations)):
                raise ValueError(f"{dataset.name} has {len(rows)} rows for {len(iterations)} iterations")
            for row in rows:
                if varies and not is_wanted(iterations[row]):
                    continue
                key = Key(name, domain, iterations[row] if varies else None)
                contents.blocks[key] = Block(path, str(dataset.name), int(row), place)


def _domain(dataset_name: str) -> int | None:
    if _WHOLE_PATTERN.match(dataset_name):
        return WHOLE
    found = _DOMAIN.match(dataset_name)
    return int(found.group(1)) if found else None


def _variables(group: h5py.Group, prefix: str) -> Iterator[tuple[str, h5py.Group]]:
    for name, item in group.items():
        if not isinstance(item, h5py.Group) or (not prefix and name == ".halcyon"):
            continue
        if "time_varying" in item.attrs:
            yield prefix + name, item
        yield from _variables(item, f"{prefix}{name}/")


def plain(value: Any) -> object:
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return value
