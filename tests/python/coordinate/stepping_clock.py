"""A clock of processes of a test that steps, by libfaketime."""

import shlex
from pathlib import Path

from halcyon.installed_program import find_installed

FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)


class SteppingClock:
    """CLOCK_REALTIME alone steps."""

    def __init__(self, folder: Path) -> None:
        assert FAKETIME is not None
        self._folder = folder
        self._file = folder / "clock"
        self.step(0)
        self.variables = {
            "LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(self._file), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
        }  # fmt: skip
        """Of processes that have it."""
        self.where = ["env", *(f"{name}={value}" for name, value in self.variables.items())]
        """Words in front of a command."""

    def step(self, to_s: int) -> None:
        """To so many seconds from the true time."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{to_s:+d}\n")
        new.replace(self._file)

    def of_agents(self) -> dict[str, str]:
        """Variables of programs whose agents have it: these are started without LD_PRELOAD."""
        script = self._folder / "agent-with-clock"
        agent = find_installed("halcyon-agent", "HALCYON_AGENT")
        script.write_text(f"#!/bin/sh\nexec {shlex.join([*self.where, str(agent)])}\n")
        script.chmod(0o755)
        return {"HALCYON_AGENT": str(script)}
