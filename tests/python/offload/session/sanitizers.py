"""What scripts/sanitize adds to the tests of this folder: reports of processes that nobody waits for.

A server has a log file for its standard error and nobody who looks at its exit status. So the sanitizers write their
reports into one directory, which HALCYON_SANITIZER_REPORTS names and their options (log_path) name, too.
"""

import os
from pathlib import Path

from running import BUILDS, wait_for


def report_directory() -> Path | None:
    """None when the processes under test have no sanitizers."""
    named = os.environ.get("HALCYON_SANITIZER_REPORTS")
    return Path(named) if named else None


def reports(directory: Path) -> set[Path]:
    return set(directory.iterdir())


def wait_for_servers() -> None:
    """Until the servers of the builds under test have ended: what they have to say they say last."""
    programs = {
        str(build / "bin" / name) for build in BUILDS.values() for name in ("halcyon-server", "halcyon-server-world")
    }
    wait_for(lambda: not programs & _running_programs(), limit_s=60, what="the servers of this test end")


def _running_programs() -> set[str]:
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.add(str((process / "exe").readlink()))
        except OSError:
            continue  # ended meanwhile, or not ours
    return found
