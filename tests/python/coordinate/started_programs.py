"""Programs that tests start, each in a session of its own. Whatever a failed test leaves of them is ended behind it."""

import subprocess
from typing import Any

from halcyon.process_session import end_session

_STARTED: list["subprocess.Popen[str]"] = []


def start_program(*command: Any, **how: Any) -> "subprocess.Popen[str]":
    """As Popen: what it says is text, standard error with standard output."""
    told: dict[str, Any] = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    made = subprocess.Popen(*command, **(told | how), start_new_session=True)
    _STARTED.append(made)
    return made


def end_programs() -> None:
    while _STARTED:
        end_session(_STARTED.pop(), patience_s=1)
