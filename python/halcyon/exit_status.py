"""How a command ended, for people and for shells."""

import signal
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Ended:
    """How a command ended that was started here."""

    status: int
    """As shells tell it: 128 + n where signal n ended it."""
    signal: int | None
    """That ended the command itself. A status above 128 alone tells none: a launcher may choose it as it likes."""

    @classmethod
    def of(cls, returncode: int) -> Self:
        """Of what Python's `subprocess` says: -n where signal n ended it."""
        return cls(returncode, None) if returncode >= 0 else cls(128 - returncode, -returncode)


def ended_badly(status: int | None, by_signal: int | None) -> str | None:
    """In a sentence, by its exit status and the signal that ended it; None: well, or nobody knows."""
    if not status:
        return None
    said = f"the command ended with exit status {status}"
    if by_signal is None:
        return said
    try:
        return f"{said}, which stands for {signal.Signals(by_signal).name}"
    except ValueError:  # of real-time signals, most have no name
        return f"{said}, which stands for signal {by_signal}"
