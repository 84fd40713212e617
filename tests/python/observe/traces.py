"""Real traces of other tools, and their data sets as lists of rows."""

from pathlib import Path
from typing import Any

from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack

DATA = Path(__file__).parents[2] / "data"

Row = dict[str, Any]


def rows(dataset: Dataset, table: str) -> list[Row]:
    """All rows of a table, in stored order."""
    return [row for batch in dataset.batches(table) for row in batch.to_pylist()]


def packed(path: Path, folder: Path) -> Dataset:
    """The data set of a trace."""
    pack(path, folder)
    return Dataset.open(folder)


def chosen(found: list[Row], *names: str) -> list[tuple[Any, ...]]:
    """The values of some columns."""
    return [tuple(row[name] for name in names) for row in found]
