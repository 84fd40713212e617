"""What recording puts into a command's environment."""

from pathlib import Path

import pytest

from halcyon.errors import UsageError
from halcyon.observe.recording import preload


@pytest.fixture(autouse=True)
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libhalcyon-io.so").touch()
    monkeypatch.setenv("HALCYON_IO_LIBRARY", str(tmp_path / "libhalcyon-io.so"))


@pytest.mark.parametrize("size", ["1 MiB", "22 MiB"])
def test_a_buffer_within_bounds_is_taken_as_it_is(size: str) -> None:
    wanted = preload.variables(["trace"], Path("traces"), buffer=size)
    assert wanted["HALCYON_TRACE_BUFFER"] == str(int(size.split()[0]) << 20)


@pytest.mark.parametrize("size", ["10 KiB", "23 MiB"])
def test_a_buffer_out_of_bounds_is_refused(size: str) -> None:
    with pytest.raises(UsageError, match=f"--buffer {size}: expected 1 MiB to 22 MiB"):
        preload.variables(["trace"], Path("traces"), buffer=size)
