"""The data files of a run, whichever format its stores have.

FORMATS is the one place of the Python side that knows the formats: how their files are called, and who reads them. A
reader is a module with a function open_data_file(path) -> DataFile; it is imported when it is needed.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import HalcyonError, HalcyonSystemError, UsageError


@dataclass(frozen=True)
class StoredArray:
    """The blocks of one domain of a variable in one data file: a row for each iteration."""

    path: str
    """In the file, as DataFile.row() takes it."""
    name: str
    """`d000003`, `d000003.1`, `whole`, …"""
    row_count: int
    attributes: dict[str, Any]


@dataclass(frozen=True)
class StoredVariable:
    name: str
    attributes: dict[str, Any]
    arrays: Sequence[StoredArray]


@dataclass(frozen=True)
class FileContents:
    """What a data file of a store says beside its values; docs/store.md describes it."""

    iterations: Sequence[int]
    missing: Sequence[tuple[str, int, int, int, str]]
    """Variable, iteration, rank, block, reason."""
    variables: Sequence[StoredVariable]
    meshes: Sequence[dict[str, Any]] = ()
    """Attributes of each: name, type, coordinates, cells, …"""


class DataFile(Protocol):
    """An open data file. Attributes are plain Python values, lists of them tuples."""

    def is_of_store(self) -> bool:
        """Whether Halcyon wrote it; otherwise only the plain_… functions make sense."""

    def contents(self) -> FileContents: ...

    def row(self, array: str, row: int) -> NDArray[Any]:
        """The elements of one block."""

    def plain_arrays(self) -> list[str]:
        """Paths of the arrays of a file that is not Halcyon's, without a '/' in front."""

    def plain(self, array: str) -> tuple[NDArray[Any], dict[str, Any]]:
        """Elements and attributes of such an array."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Format:
    """What a type of stores publishes, as the traits of its store module say it."""

    store_type: str
    title: str
    """`HDF5 files`: for messages."""
    ending: str
    """Of a data file's name; `.h5`."""
    is_folder: bool
    """A data file is a folder."""
    view_endings: tuple[str, ...]
    """Of the files `<simulation>…` that are the view. Empty: this format has none."""
    reader: str

    def open(self, path: Path) -> DataFile:
        opened: DataFile = import_module(self.reader).open_data_file(path)
        return opened

    def is_file(self, path: Path) -> bool:
        """Whether `path` is called like something of this format, and is of its kind."""
        if not path.name.endswith(self.ending) or path.name.startswith("."):
            return False
        return path.is_dir() if self.is_folder else path.is_file()

    def files_in(self, directory: Path) -> list[Path]:
        """What of this format is published in `directory`: data files, views and what others put there; sorted."""
        return sorted(path for path in directory.iterdir() if self.is_file(path))

    def data_files_in(self, directory: Path) -> list[Path]:
        return [path for path in self.files_in(directory) if self.place_of(path)]

    def place_of(self, file: Path) -> tuple[int, int] | None:
        """First iteration and part of a data file by its name; None: it is not called like one."""
        found = re.search(rf"\.i(\d{{8,}})(?:\.p(\d{{2,}}))?{re.escape(self.ending)}$", file.name)
        return (int(found[1]), int(found[2] or 0)) if found else None


HDF5 = Format("hdf5", "HDF5 files", ".h5", False, (".h5", ".xmf"), "halcyon.offload.hdf5_data_file")
ZARR = Format("zarr", "Zarr folders", ".zarr", True, (), "halcyon.offload.zarr_data_file")
FORMATS = (HDF5, ZARR)


def format_of(path: Path) -> Format:
    """The format of a file or folder by its name; a file with any other name is taken for HDF5."""
    return next((known for known in FORMATS if known.is_file(path)), HDF5)


def formats_with_view(run_directory: Path) -> list[Format]:
    """The formats whose views show the data files of a run; HDF5 where there are none yet.

    Raises UsageError when there are data files, and none of them has a view.
    """
    present = [known for known in FORMATS if run_directory.is_dir() and known.data_files_in(run_directory)]
    shown = [known for known in present or [HDF5] if known.view_endings]
    if not shown:
        titles = " and ".join(known.title for known in present)
        raise UsageError(f"{run_directory}: its data files are {titles}, which have no view: they are read one by one")
    return shown


def plain_value(value: Any) -> Any:
    """A plain Python value for one of NumPy or JSON; lists become tuples."""
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return tuple(value) if isinstance(value, list) else value


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Around whatever reads `path`: what libraries raise when its bytes make no sense becomes one kind of error.

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
