"""Numbers the files of a foreign trace in the order in which they appear."""

from collections.abc import Hashable, Mapping
from typing import Any

import pyarrow as pa

from halcyon.observe.schema import FILES


class FileIndex:
    """Rows of `files`, found by the source's own key: an identifier with a name, or the path itself."""

    def __init__(self, names: Mapping[Any, str] | None = None) -> None:
        self.names = names if names is not None else {}
        self.rows: list[dict[str, Any]] = []
        self._indices: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        """Index of the file with this key; its path is its name, or the key where it has none."""
        if key not in self._indices:
            self._indices[key] = len(self.rows)
            self.rows.append({"file": len(self.rows), "path": self.names.get(key, str(key))})
        return self._indices[key]

    def table(self) -> pa.Table:
        """The table `files`."""
        return pa.Table.from_pylist(self.rows, schema=FILES)
