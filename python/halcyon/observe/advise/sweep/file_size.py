"""How large a file the command of a sweep writes: held constant, or growing with what is varied."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from halcyon.errors import UsageError
from halcyon.observe.advise.sweep.space import AGGREGATORS, STRIPE_COUNT, Point
from halcyon.quantities import parse_bytes

_GROWS_WITH = {"target": STRIPE_COUNT, "aggregator": AGGREGATORS}
_PLACE = re.compile(r"\{file_size(?:/(\d+))?\}")


@dataclass(frozen=True)
class FileSize:
    """`bytes` of the file, or for each of the parameter `per` (a hint's name)."""

    bytes: int
    per: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Of `4GiB`, `256MiB/target` or `256MiB/aggregator`. UsageError: it is none."""
        amount, slash, what = text.partition("/")
        if slash and what not in _GROWS_WITH:
            raise UsageError(
                f"--file-size: '{text}'; expected a size such as 4GiB, or 256MiB/target, 256MiB/aggregator"
            )
        found = parse_bytes(amount, "--file-size")
        if found < 1:
            raise UsageError(f"--file-size: '{text}'; expected a size above 0")
        return cls(found, _GROWS_WITH[what] if slash else None)

    def at(self, point: Point) -> int:
        """Bytes of the file at a point."""
        return self.bytes * dict(point).get(self.per or "", 1)

    def check(self, command: Sequence[str], parameters: Sequence[str]) -> None:
        """UsageError: the command has no place for it, or what it grows with is not varied."""
        if not any(_PLACE.search(word) for word in command):
            raise UsageError(
                "--file-size: the command has no place for it; write {file_size} (bytes) or {file_size/N} (divided by "
                "N) where it takes the size"
            )
        if self.per is not None and parameters and self.per not in parameters:
            raise UsageError(
                f"--file-size: it grows with {self.per}, which is not varied; varied: {', '.join(parameters)}"
            )


def with_size(command: Sequence[str], size: int) -> list[str]:
    """The command with `{file_size}` and `{file_size/N}` filled in. UsageError: nothing is left after a division."""

    def filled(found: re.Match[str]) -> str:
        parts = int(found[1] or 1)
        if parts == 0 or size // parts == 0:
            raise UsageError(f"--file-size: {found[0]} of {size:,} bytes is nothing; expected a larger size")
        return str(size // parts)

    return [_PLACE.sub(filled, word) for word in command]
