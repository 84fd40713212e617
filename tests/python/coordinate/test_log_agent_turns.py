"""Agents that work on log containers take turns at the file system of the containers."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinator_process import CoordinatorProcess, wait_until

from halcyon.installed_program import find_installed

logfs = pytest.importorskip("halcyon.logfs")
pytest.importorskip("halcyon._logfs", reason="the compiled modules are not built")


def test_a_plain_file_is_made_in_the_turn_of_an_application_of_its_own(
    start: Callable[..., CoordinatorProcess], scratch: Path
) -> None:
    daemon = start(paths=[str(scratch)])
    with logfs.open(scratch / "f", "wb") as file:
        file.write(b"x" * 40_000_000)
    agent = find_installed("halcyon-log-agent", "HALCYON_LOG_AGENT")
    variables = os.environ | {
        "HALCYON_COORDINATORS": f"{scratch}={daemon.address}",
        "HALCYON_AGENT": str(find_installed("halcyon-agent", "HALCYON_AGENT")),
        "HALCYON_JOB": "simulation",
        "HALCYON_JOB_SECRET": "0123456789abcdef",
        "HALCYON_COORDINATE_PATIENCE_MS": "20000",
    }
    words = [str(agent), "--turns", "--flatten", "--rate", "20000000", str(scratch)]
    process = subprocess.Popen(words, env=variables, stderr=subprocess.PIPE)
    seen: set[str] = set()
    moved = 0

    def ends() -> bool:
        nonlocal moved
        for application in daemon.top().applications:
            seen.add(application.job)
            moved += application.lease > 0
        return process.poll() is not None

    wait_until(ends, "the agent ends")
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    assert process.returncode == 0, said
    assert (scratch / "f").read_bytes() == b"x" * 40_000_000
    assert seen == {f"simulation.log.{os.uname().nodename}"}
    assert moved > 0


def test_without_a_coordinator_it_goes_on_and_says_so(tmp_path: Path) -> None:
    with logfs.open(tmp_path / "f", "wb") as file:
        file.write(b"x")
    with logfs.open(tmp_path / "held", "wb") as held:
        held.write(b"x")
        agent = find_installed("halcyon-log-agent", "HALCYON_LOG_AGENT")
        words = [str(agent), "--turns", "--flatten", "--patience", "0", "--report", f"{tmp_path}/report", str(tmp_path)]
        variables = {name: value for name, value in os.environ.items() if not name.startswith("HALCYON_COORD")}
        assert subprocess.run(words, env=variables, check=False, timeout=120).returncode == 1
    assert (tmp_path / "f").is_file()
    assert "no coordinator is known" in (tmp_path / "report").read_text()
