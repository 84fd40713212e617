"""Reads HDF5 data files, and HDF5 files that are not Halcyon's."""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from halcyon.errors import HalcyonSystemError
from halcyon.offload.data_files import FileContents, StoredArray, StoredVariable, plain_value


def open_data_file(path: Path) -> "Hdf5DataFile":
    """Raises HalcyonSystemError when it is no HDF5."""
    try:
        return Hdf5DataFile(path, h5py.File(path, "r", locking=False))
    except OSError as cause:
        raise HalcyonSystemError(f"{path}: not readable as HDF5: {cause}", cause.errno, str(path)) from cause


class Hdf5DataFile:
    """See halcyon.offload.data_files.DataFile."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        self._path = path
        self._file = file

    def close(self) -> None:
        self._file.close()

    def is_of_store(self) -> bool:
        return bool(self._file.attrs.get("format") == "halcyon")

    def contents(self) -> FileContents:
        iterations = [int(i) for i in self._file[".halcyon/iterations"][()]]
        return FileContents(iterations, self._missing(), [*self._variables(self._file, "")], self._meshes())

    def _meshes(self) -> list[dict[str, Any]]:
        if ".halcyon/meshes" not in self._file:
            return []
        return [_attributes(mesh) for _, mesh in sorted(self._file[".halcyon/meshes"].items())]

    def _missing(self) -> list[tuple[str, int, int, int, str]]:
        if ".halcyon/missing" not in self._file:
            return []
        table = self._file[".halcyon/missing"]
        reasons = [str(r) for r in table.attrs["reasons"]]
        names = self._file[".halcyon/missing_variables"].asstr()[()]
        return [
            (str(name), iteration, rank, block, reasons[reason])
            for name, (iteration, rank, block, reason) in zip(names, table[()].tolist(), strict=True)
        ]

    def _variables(self, group: h5py.Group, prefix: str) -> Iterator[StoredVariable]:
        for name, item in group.items():
            if not isinstance(item, h5py.Group) or (not prefix and name == ".halcyon"):
                continue
            if "time_varying" in item.attrs:
                arrays = [_array(key, value) for key, value in item.items() if isinstance(value, h5py.Dataset)]
                yield StoredVariable(prefix + name, _attributes(item), arrays)
            yield from self._variables(item, f"{prefix}{name}/")

    def row(self, array: str, row: int) -> NDArray[Any]:
        return np.asarray(self._file[array][row])

    def plain_arrays(self) -> list[str]:
        self._refuse_lost_sources()
        found: list[str] = []

        def take(name: str, item: object) -> None:
            if isinstance(item, h5py.Dataset):
                found.append(name)

        self._file.visititems(take)
        return found

    def plain(self, array: str) -> tuple[NDArray[Any], dict[str, Any]]:
        dataset = self._file[array]
        values = {key: value for key, value in _attributes(dataset).items() if key not in _SCALE_ATTRIBUTES}
        return np.asarray(dataset[()]), values

    def _refuse_lost_sources(self) -> None:
        """HDF5 reads a virtual dataset without its sources as fill: two such would be equal."""
        sources: set[str] = set()

        def look(_: str, item: object) -> None:
            if isinstance(item, h5py.Dataset) and item.is_virtual:
                sources.update(source.file_name for source in item.virtual_sources())

        self._file.visititems(look)
        for name in sorted(sources - {"."}):
            # HDF5 writes a '%' of a source's name twice.
            source = self._path.parent / name.replace("%%", "%")
            if not source.exists():
                raise HalcyonSystemError(
                    f"{self._path}: shows data of {source.name}, which is not there", errno.ENOENT, str(source)
                )


# Bookkeeping of dimension scales: addresses inside a file, which say nothing across files.
_SCALE_ATTRIBUTES = {"DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates"}


def _array(name: str, dataset: h5py.Dataset) -> StoredArray:
    return StoredArray(str(dataset.name), name, int(dataset.shape[0]), _attributes(dataset))


def _attributes(of: h5py.HLObject) -> dict[str, Any]:
    return {key: plain_value(value) for key, value in of.attrs.items()}
