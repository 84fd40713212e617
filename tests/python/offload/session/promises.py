"""Which promise a round of the fault campaign broke."""

from collections.abc import Iterator
from contextlib import contextmanager

PROMISES = ("values", "counts", "the end")
"""Each block is stored with its value; the records say how many; all processes end, in order where nobody hit them."""


class BrokenPromiseError(Exception):
    def __init__(self, which: str, why: BaseException) -> None:
        super().__init__(f"{which}: {why}")
        self.which = which


@contextmanager
def promise(which: str) -> Iterator[None]:
    """What fails in this block breaks this promise."""
    try:
        yield
    except (AssertionError, OSError) as why:
        raise BrokenPromiseError(which, why) from why
