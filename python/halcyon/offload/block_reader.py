"""Reads the elements of stored blocks from files that stay open."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from halcyon.offload.data_files import DataFile, format_of, reading
from halcyon.offload.stored_blocks import Block


class BlockReader:
    """Open files; as many as a reader of a run touches at a time."""

    _MOST = 64

    def __init__(self) -> None:
        self._open: dict[Path, DataFile] = {}

    def __enter__(self) -> "BlockReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for file in self._open.values():
            file.close()
        self._open.clear()

    def file(self, path: Path) -> DataFile:
        if path not in self._open:
            if len(self._open) >= self._MOST:
                self._open.pop(next(iter(self._open))).close()
            self._open[path] = format_of(path).open(path)
        return self._open[path]

    def values(self, block: Block) -> NDArray[Any]:
        """The elements of a block."""
        with reading(block.file):
            return self.file(block.file).row(block.dataset, block.row)

    def plain(self, path: Path, name: str) -> tuple[NDArray[Any], dict[str, object]]:
        """The elements and the attributes of a dataset."""
        with reading(path):
            values, attributes = self.file(path).plain(name)
            return values, {key: repr(value) for key, value in attributes.items()}
