"""Runs that fail, kept in the file as ones that do not count."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from halcyon.delta.data_file import Dataclass, RunFile
from halcyon.errors import HalcyonSystemError

_Run = TypeVar("_Run", bound=Dataclass)


@dataclass(frozen=True)
class Failed:
    """`at_s`: when the run began, in seconds of the epoch."""

    why: str
    at_s: float
    wall_s: float


class Forgiving(Generic[_Run]):
    """Adds runs to a file, and up to `in_a_row` failed ones after one another; the next is an error. In a measurement
    of hours, one command that fails must not cost the others, and a broken machine must not be asked for ever."""

    def __init__(self, file: RunFile[_Run], in_a_row: int) -> None:
        self._file = file
        self._most = in_a_row
        self._failed = 0

    def add(self, make: Callable[[], _Run], failed: Callable[[Failed], _Run]) -> None:
        """HalcyonSystemError: it failed, as the ones before it did; or the file cannot be written."""
        at_s, began = time.time(), time.monotonic()
        try:
            run = make()
        except HalcyonSystemError as why:
            if self._failed == self._most:
                raise
            self._failed += 1
            run = failed(Failed(str(why), at_s, time.monotonic() - began))
        else:
            self._failed = 0
        self._file.add(run)
