"""The program random_streams, on a plain directory and on another one."""

import os
from collections.abc import Callable
from itertools import zip_longest

SEED = int(os.environ.get("HALCYON_STREAM_SEED", "1"))


def operations(default: int) -> int:
    """Of each run; the environment may say how many."""
    return int(os.environ.get("HALCYON_STREAM_OPERATIONS", default))


def compare(outcomes: Callable[[int, int], list[list[str]]], operations: int) -> None:
    """The same on both. `outcomes`: what it said, plainly and otherwise, in so many operations, of which it tells each
    from the second number on."""
    plain, other = outcomes(operations, operations)
    assert plain[-1].startswith("end "), plain[-1]
    for block, (expected, found) in enumerate(zip_longest(plain, other)):
        if expected == found:
            continue
        plain, other = outcomes(min(operations, 1000 * (block + 1)), 1000 * block)
        for line, (right, wrong) in enumerate(zip_longest(plain, other)):
            assert wrong == right, "\n".join(["after", *plain[max(0, line - 12) : line]])
    assert other == plain
