"""Which programs made a run, and since which boot."""

import re
from pathlib import Path

import pytest

from halcyon.delta.identity import boot, programs

VARIABLES = {
    "HALCYON_COORDINATOR": "halcyon-coordinator", "HALCYON_AGENT": "halcyon-agent",
    "HALCYON_IO_LIBRARY": "libhalcyon-io.so",
}  # fmt: skip


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable, name in VARIABLES.items():
        (tmp_path / name).write_text(name)
        (tmp_path / name).chmod(0o755)
        monkeypatch.setenv(variable, str(tmp_path / name))
    return tmp_path


@pytest.mark.parametrize("name", VARIABLES.values())
def test_another_build_of_any_program_is_another(built: Path, name: str) -> None:
    before = programs()
    assert re.fullmatch("[0-9a-f]{12}", before)
    assert programs() == before
    (built / name).write_text("another one")
    assert programs() != before
    (built / name).unlink()
    assert programs() != before


def test_the_boot_is_that_of_the_machine() -> None:
    assert Path("/proc/sys/kernel/random/boot_id").read_text().startswith(boot())
    assert len(boot()) == 8
