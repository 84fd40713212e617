"""Reads Zarr data folders, and Zarr groups that are not Halcyon's."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import zarr
from numpy.typing import NDArray

from halcyon.errors import HalcyonSystemError
from halcyon.offload.data_files import FileContents, StoredArray, StoredVariable, plain_value


def open_data_file(path: Path) -> "ZarrDataFile":
    """Raises HalcyonSystemError when it is no Zarr group of version 3."""
    try:
        return ZarrDataFile(zarr.open_group(path, mode="r", zarr_format=3, use_consolidated=False))
    except (OSError, ValueError, LookupError, TypeError) as cause:
        told = f"{path}: not readable as a Zarr group: {cause}"
        raise HalcyonSystemError(told, getattr(cause, "errno", None), str(path)) from cause


class ZarrDataFile:
    """See halcyon.offload.data_files.DataFile."""

    def __init__(self, group: zarr.Group) -> None:
        self._group = group

    def close(self) -> None:
        self._group.store.close()

    def is_of_store(self) -> bool:
        return bool(self._group.attrs.get("format") == "halcyon")

    def contents(self) -> FileContents:
        own = self._group[".halcyon"]
        assert isinstance(own, zarr.Group)
        nodes = dict(self._group.members(max_depth=None))
        arrays: dict[str, list[StoredArray]] = {}
        for path, node in sorted(nodes.items()):
            variable, _, name = path.rpartition("/")
            if isinstance(node, zarr.Array):
                arrays.setdefault(variable, []).append(StoredArray(path, name, node.shape[0], _attributes(node)))
        # A component of a name is percent-encoded where it could not be the name of a node.
        variables = [
            StoredVariable("/".join(map(unquote, path.split("/"))), _attributes(node), arrays.get(path, []))
            for path, node in sorted(nodes.items())
            if isinstance(node, zarr.Group) and path.partition("/")[0] != ".halcyon" and "time_varying" in node.attrs
        ]
        return FileContents(_values(own, "iterations").tolist(), _missing(own), variables, _meshes(own))

    def row(self, array: str, row: int) -> NDArray[Any]:
        found = self._group[array]
        assert isinstance(found, zarr.Array)
        return np.asarray(found[row])

    def plain_arrays(self) -> list[str]:
        return [path for path, node in self._group.members(max_depth=None) if isinstance(node, zarr.Array)]

    def plain(self, array: str) -> tuple[NDArray[Any], dict[str, Any]]:
        return _values(self._group, array), _attributes(self._group[array])


def _values(group: zarr.Group, name: str) -> NDArray[Any]:
    array = group[name]
    assert isinstance(array, zarr.Array)
    return np.asarray(array[...])


def _missing(own: zarr.Group) -> list[tuple[str, int, int, int, str]]:
    if "missing" not in own:
        return []
    said: dict[str, Any] = dict(own["missing"].attrs)
    return [
        (name, iteration, rank, block, said["reasons"][reason])
        for name, (iteration, rank, block, reason) in zip(
            said["variables"], _values(own, "missing").tolist(), strict=True
        )
    ]


def _meshes(own: zarr.Group) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = dict(own.attrs).get("meshes", [])  # type: ignore[assignment]
    return [{key: plain_value(value) for key, value in mesh.items()} for mesh in said]


def _attributes(node: zarr.Array[Any] | zarr.Group) -> dict[str, Any]:
    return {key: plain_value(value) for key, value in dict(node.attrs).items()}
