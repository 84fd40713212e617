"""A process that is killed, wherever in its recording that is, spoils no run, and none of its calls is lost."""

import os
import shutil
import subprocess
from pathlib import Path

import pyarrow.compute as pc
import pytest
from recorded_program import compiled

from halcyon.errors import ConfigError
from halcyon.layers.preload import find_library, variables
from halcyon.observe.readers.halcyon import TraceFolder
from halcyon.observe.recording.folder import Recording


class Victim:
    """A program that writes ten bytes, recorded into `run`, its traces first on a disk of its node where `moved`."""

    def __init__(self, folder: Path, moved: bool) -> None:
        self.killer = compiled("killed_at.c", folder)
        self.program = compiled("few_writes.c", folder)
        self.run = folder / "run"
        self.local = folder / "local" if moved else None
        self.file = folder / "file"

    def killed_at(self, stop: int) -> bool:
        """Whether it was killed at this stop, and had not ended before."""
        for folder in (self.run, self.local):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
        (self.run / "trace").mkdir()
        self.file.unlink(missing_ok=True)
        Recording.of(["few_writes"], ["trace"], 0.0).write(self.run)
        wanted = variables(["trace"], self.run / "trace", "1 MiB", self.local)
        del wanted["LD_PRELOAD"]
        command = [self.killer, str(stop), find_library(), self.program, self.file]
        code = subprocess.run(command, env=os.environ | wanted, check=False).returncode
        if code == 77:
            pytest.skip("ptrace is not allowed here")
        assert code in (0, 1)
        return code == 1

    def nothing_was_recorded(self) -> bool:
        try:
            TraceFolder(self.run)
        except ConfigError as why:
            return "nothing was recorded" in str(why)
        return False

    def recorded_writes(self) -> int:
        if self.nothing_was_recorded():
            return 0
        traces = TraceFolder(self.run)
        return sum(pc.sum(pc.equal(calls["call"], "write")).as_py() for calls in traces.calls())


@pytest.mark.parametrize("moved", [False, True])
def test_every_call_of_a_process_killed_anywhere_is_there(tmp_path: Path, moved: bool) -> None:
    victim = Victim(tmp_path, moved)
    stop = 0
    while victim.killed_at(stop := stop + 1):
        written = victim.file.stat().st_size if victim.file.exists() else 0
        # The last one may have been made, and the process killed in it.
        assert written - 1 <= victim.recorded_writes() <= written, stop
    assert victim.recorded_writes() == 10
    assert stop > 50


def test_a_process_killed_as_it_began_is_told(tmp_path: Path) -> None:
    victim = Victim(tmp_path, False)
    assert not victim.killed_at(1_000_000)
    (victim.run / "trace" / "other.begun").touch()
    absences = TraceFolder(victim.run).tables()["absences"].to_pylist()
    assert [(row["what"], row["subject"], row["count"]) for row in absences] == [
        ("not-seen", "processes killed as they began", 1)
    ]
