"""What the mode of `open` asks for."""

from dataclasses import dataclass
from typing import Self

from halcyon.errors import UsageError


@dataclass(frozen=True)
class OpenMode:
    """A mode such as `r+b`, taken apart."""

    kind: str
    """r, w, x or a."""
    updates: bool
    """Reads and writes."""
    is_binary: bool

    @classmethod
    def of(cls, mode: str) -> Self:
        """UsageError: it is none."""
        kinds = [letter for letter in mode if letter in "rwxa"]
        odd = set(mode) - set("rwxabt+") or len(set(mode)) != len(mode) or {"b", "t"} <= set(mode)
        if len(kinds) != 1 or odd:
            raise UsageError(f"mode {mode!r}; expected r, w, x or a, with + to read and write, and b for bytes")
        return cls(kinds[0], "+" in mode, "b" in mode)

    @property
    def reads(self) -> bool:
        return self.kind == "r" or self.updates

    @property
    def writes(self) -> bool:
        return self.kind != "r" or self.updates

    @property
    def raw(self) -> str:
        """As of a file that knows bytes only."""
        return f"{self.kind}b{'+' if self.updates else ''}"
