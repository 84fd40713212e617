"""The call stacks of calls, from the program to the data set and to archives of other tools."""

from pathlib import Path

import pytest
from recorded_program import Run, compiled, recorded

from halcyon.cli import main
from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack
from halcyon.observe.writers import writer_of

WANTED = {"HALCYON_TRACE_CONTEXTS": "1"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("programs/contexts.c", tmp_path_factory.mktemp("program"))


def frames(run: Run) -> dict[int, list[str]]:
    return {
        int(fact["key"].removeprefix("context."), 16): fact["value"].split()
        for fact in run.rows("facts")
        if fact["key"].startswith("context.") and fact["key"] != "context.unwinder"
    }


def writes(run: Run) -> list[int | None]:
    return [call["context"] for call in run.calls if call["call"] == "write"]


def test_contexts_and_their_frames_reach_the_data_set(program: Path, tmp_path: Path) -> None:
    run = recorded([program, "places", tmp_path], tmp_path / "run", extra=WANTED)
    assert run.code == 0
    seen = writes(run)
    assert len(seen) == 6
    assert seen[0] == seen[1] == seen[2]
    assert len(set(seen)) == 4
    told = frames(run)
    for context in seen:
        assert context is not None
        assert all(frame.startswith("contexts+0x") for frame in told[context][:3])
    # Calls of other kinds have none.
    assert {call["context"] is None for call in run.calls if call["kind"] in ("stat", "seek", "map")} <= {True}
    assert "unwind tables" in {fact["value"] for fact in run.rows("facts") if fact["key"] == "context.unwinder"}


def test_two_runs_have_the_same_numbers(program: Path, tmp_path: Path) -> None:
    one, other = (recorded([program, "places", tmp_path], tmp_path / name, extra=WANTED) for name in ("one", "other"))
    assert writes(one) == writes(other)
    assert frames(one) == frames(other)


def test_without_being_asked_none_are_recorded(program: Path, tmp_path: Path) -> None:
    run = recorded([program, "places", tmp_path], tmp_path / "run")
    assert {call["context"] for call in run.calls} == {None}
    assert not [fact for fact in run.rows("facts") if fact["key"].startswith("context.")]


def test_the_trace_of_a_killed_process_has_them(program: Path, tmp_path: Path) -> None:
    run = recorded([program, "killed", tmp_path], tmp_path / "run", extra=WANTED, kill=True)
    assert len(writes(run)) == 3
    assert set(writes(run)) <= set(frames(run))


def test_otf2_keeps_them(program: Path, tmp_path: Path) -> None:
    run = recorded([program, "places", tmp_path], tmp_path / "run", extra=WANTED)
    writer_of("otf2")(run.data, tmp_path / "archive")
    pack(tmp_path / "archive", tmp_path / "back")
    with Dataset.open(tmp_path / "back") as back:
        calls = [row for batch in back.batches("calls") for row in batch.to_pylist()]
    assert [call["context"] for call in calls if call["kind"] == "write"] == writes(run)


def test_the_command_asks_for_them(program: Path, tmp_path: Path) -> None:
    words = ["run", "--trace", "--contexts", "-o", str(tmp_path / "run"), "--", str(program), "places", str(tmp_path)]
    assert main(words) == 0
    run = Run(tmp_path / "run", 0, b"", "")
    assert None not in writes(run)


def test_the_command_wants_contexts_only_with_a_recording(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--contexts", "--", "true"]) == 2
    assert "--contexts say how to record: add --trace" in capsys.readouterr().err
