"""The data set of whatever the user names: a recorded run, packed or not, or a data set."""

from pathlib import Path

from halcyon.observe.dataset import Dataset
from halcyon.observe.manifest import NAME
from halcyon.observe.pack import data_of, pack


def open_run(path: Path) -> Dataset:
    """Packs a recorded run that is not packed yet. UsageError: neither a recorded run nor a data set."""
    if (path / NAME).exists():
        return Dataset.open(path)
    data = data_of(path)
    if not (data / NAME).exists():
        pack(path, data)
    return Dataset.open(data)
