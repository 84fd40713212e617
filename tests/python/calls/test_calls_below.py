"""What a file backend does to answer a call is recorded as made during that call, and counted for nobody twice."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ibis import _
from observe.recorded_program import Run, compiled, recorded

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.findings import findings
from halcyon.predict.streams import Streams

LIBRARY = Path(__file__).resolve().parents[3] / "build/release/tests/calls/libhalcyon_directory_io.so"

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="the library of the directory's backend is not built")

Make = Callable[[bool], Run]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """The run of beside_children.c, its file on the kernel's file system or (True) on the backend's."""
    program = compiled("beside_children.c", tmp_path)

    def run(mounted: bool) -> Run:
        name = "mounted" if mounted else "plain"
        directory = tmp_path / name
        directory.mkdir()
        extra = {}
        if mounted:
            monkeypatch.setenv("HALCYON_IO_LIBRARY", str(LIBRARY))
            (tmp_path / "behind").mkdir()
            extra = {
                "HALCYON_DIRECTORY_MOUNT": str(directory),
                "HALCYON_DIRECTORY_BEHIND": str(tmp_path / "behind"),
                "HALCYON_DIRECTORY_HOOKS": str(tmp_path / "hooks"),
            }
        done = recorded([program, directory], tmp_path / f"run-{name}", extra=extra)
        assert done.code == 0, done.complaints
        assert not done.complaints
        return done

    return run


def test_calls_of_a_backend_have_the_calls_that_it_answers_as_their_parents(make: Make, tmp_path: Path) -> None:
    run = make(True)
    asked = [call for name in ("file", "none") for call in run.calls_on(tmp_path / "mounted" / name)]
    made = [call for name in ("file", "none") for call in run.calls_on(tmp_path / "behind" / name)]
    assert all(call["parent"] is None and call["parent_level"] is None for call in asked)
    answered = {(call["process"], call["thread"], call["number"]): call for call in asked}
    kinds = {"open", "read", "write", "sync"}
    assert sorted(call["kind"] for call in made) == sorted(call["kind"] for call in asked if call["kind"] in kinds)
    assert len(made) == 1 + 40 + 20 + 40 + 1 + 1
    assert {call["level"] for call in made} == {"log"}
    for call in made:
        outer = answered[call["process"], call["thread"], call["parent"]]
        for column in ("kind", "bytes", "moved", "error"):
            assert call[column] == outer[column], (column, call, outer)
        assert (call["parent_level"], call["parent_call"]) == ("posix", outer["call"])
        slack = 2000  # traces round times
        assert outer["start_ns"] - slack <= call["start_ns"]
        assert call["start_ns"] + call["duration_ns"] <= outer["start_ns"] + outer["duration_ns"] + slack
        if call["kind"] in ("read", "write"):
            assert call["offset"] == outer["offset"]
            assert outer["self_ns"] == outer["duration_ns"] - call["duration_ns"]


def test_reports_and_forecasts_count_what_a_backend_does_once(make: Make) -> None:
    def counted(run: Run) -> dict[str, object]:
        answers = Answers(run.data, Settings(sync_share=0.0, worth_seconds=0.0, worth_share=0.0, worth_run_share=0.0))
        moved = answers.survey.profile.filter(_.transfer).aggregate(
            by="direction", calls=_.calls.sum().cast("int64"), bytes=_.volume.sum().cast("int64")
        )
        metadata = {one.kind: one.calls for one in answers.metadata.kinds if one.kind == "open"}
        syncs = [{e.key: e.value for e in one.evidence} for one in findings(answers) if one.key == "frequent-sync"]
        streams = Streams(run.data)
        return {
            "moved": sorted(tuple(row.values()) for row in moved.to_pyarrow().to_pylist()),
            "ranks": [(one.bytes_written, one.bytes_read) for one in answers.ranks],
            "metadata": metadata,
            "syncs": [(one["sync_calls"], one["write_calls"]) for one in syncs],
            "learnt": sorted(stream.calls for stream in streams.all),
        }

    plain, mounted = counted(make(False)), counted(make(True))
    assert plain == mounted
    assert plain["moved"] == [("read", 40, 40000), ("write", 41, 40005)]
    assert plain["syncs"] == [(20, 41)]


def test_a_backend_is_told_before_another_process_gets_its_files(make: Make, tmp_path: Path) -> None:
    make(True)
    assert (tmp_path / "hooks").read_text() == "ff"
    assert (tmp_path / "behind/file").stat().st_size == 40005
    assert not list((tmp_path / "mounted").iterdir()), "the kernel has it"
