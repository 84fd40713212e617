"""How a command ended, for people."""

import signal


def ended_badly(status: int | None) -> str | None:
    """In a sentence, by its exit status as shells tell it; None: well, or nobody knows."""
    if not status:
        return None
    try:
        by_signal = f", which stands for {signal.Signals(status - 128).name}"
    except ValueError:
        by_signal = ""
    return f"the command ended with exit status {status}{by_signal}"
