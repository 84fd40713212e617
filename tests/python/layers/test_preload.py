"""What recording puts into a command's environment."""

from pathlib import Path

import pytest

from halcyon.errors import UsageError
from halcyon.layers import preload


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


def test_how_to_learn_is_told_in_units_of_the_layer(tmp_path: Path) -> None:
    (tmp_path / "known").mkdir()
    wanted = preload.Prediction("8 MiB", 12, 0.5, tmp_path / "new" / "folder", tmp_path / "known").variables()
    assert wanted == {
        "HALCYON_PREDICT_MEMORY": str(8 << 20),
        "HALCYON_PREDICT_CUT_OFF": "12",
        "HALCYON_PREDICT_LEAST_PAUSE_NS": "500000000",
        "HALCYON_PREDICT_SAVE": str(tmp_path / "new" / "folder"),
        "HALCYON_PREDICT_LOAD": str(tmp_path / "known"),
    }
    assert (tmp_path / "new" / "folder").is_dir()
    assert preload.Prediction().variables() == {}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (preload.Prediction(memory="100 KiB"), "--predict-memory 100 KiB: expected 256 KiB at least"),
        (preload.Prediction(cut_off=65), "--predict-cut-off 65: expected 1 to 64"),
        (preload.Prediction(least_pause=0), "--predict-least-pause 0: expected 0 to 86400 seconds"),
        (preload.Prediction(load=Path("/nowhere")), "--model /nowhere: no such folder"),
    ],
)
def test_wrong_ways_to_learn_are_refused(wrong: preload.Prediction, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        wrong.variables()


def test_how_to_read_ahead_is_checked_and_passed_on() -> None:
    wanted = preload.Prefetching("8 MiB", 80).variables()
    assert wanted == {"HALCYON_PREFETCH_BYTES": str(8 << 20), "HALCYON_PREFETCH_PERCENT": "80"}
    with pytest.raises(UsageError, match="--prefetch-memory 8 KiB: expected 64 KiB at least"):
        preload.Prefetching("8 KiB").variables()
    with pytest.raises(UsageError, match="--prefetch-percent 0: expected 1 to 100"):
        preload.Prefetching(percent=0).variables()
