"""Exports of data sets in other tools' formats."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from halcyon.observe.dataset import Dataset


def writer_of(name: str) -> Callable[[Dataset, Path], None]:
    """The function that writes format `name`: otf2, chrome or csv. Its library is loaded only now."""
    return cast(Callable[[Dataset, Path], None], getattr(import_module(f"{__name__}.{name}"), f"write_{name}"))
