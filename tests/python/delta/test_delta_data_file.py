"""The file of a Δ-graph: what was written comes back, and a kill costs one line at most."""

from dataclasses import replace
from pathlib import Path

import pytest
from measured_runs import SETUP, alone, both

from halcyon.delta.data_file import DataFile, read
from halcyon.delta.runs import Key
from halcyon.errors import ConfigError, UsageError

BED = {"compute": 2, "in_front": {"c1": ["unshare"]}}
RUNS = [alone("A", 2.0), alone("B", 1.0), both(Key("fcfs", -500_000_000), 2.0, 3.0, "too late")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "delta.jsonl"
    with DataFile(file, SETUP, BED) as data:
        for run in RUNS:
            data.add(run)
    return file


def test_what_was_written_comes_back(path: Path) -> None:
    content = read(path)
    assert content.setup == SETUP
    assert content.bed == BED
    assert content.runs == RUNS
    assert not content.dropped


def test_a_file_from_before_programs_were_noted_is_read(path: Path) -> None:
    path.write_text(path.read_text().replace(', "programs": "", "boot": ""', ""))
    assert "boot" not in path.read_text()
    assert read(path).runs == RUNS


def test_a_measurement_goes_on_with_what_is_there(path: Path) -> None:
    with DataFile(path, SETUP, BED) as data:
        assert data.runs == RUNS
        assert not data.dropped
        data.add(RUNS[0])
    assert read(path).runs == [*RUNS, RUNS[0]]


def test_wherever_a_kill_ends_the_last_line_the_others_stay(path: Path) -> None:
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(last + 1, len(whole)):
        path.write_bytes(whole[:end])
        assert read(path).dropped
        with DataFile(path, SETUP, BED) as data:
            assert data.dropped
            assert data.runs == RUNS[:-1]
            data.add(RUNS[-1])
        assert path.read_bytes() == whole


def test_a_file_that_a_kill_left_without_a_setup_begins_anew(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20])
    with DataFile(path, SETUP, BED) as data:
        assert data.runs == []
    assert read(path).setup == SETUP


def test_runs_of_another_measurement_are_not_mixed(path: Path) -> None:
    with pytest.raises(UsageError, match=r'another measurement: path was "/data", is "/other"\. Name'):
        DataFile(path, replace(SETUP, path="/other"), BED)
    with pytest.raises(UsageError, match=r"another measurement: bed\.compute was \d+, is 3\. Name"):
        DataFile(path, SETUP, BED | {"compute": 3})
    other = replace(SETUP, a=replace(SETUP.a, words=("fio", "a b", "x" * 100)), path=None)
    with pytest.raises(UsageError, match=r"a\.words was .*, is fio 'a b' x{50}…; path was \S+, is not given\. Name"):
        DataFile(path, other, BED)
    assert read(path).runs == RUNS


def test_of_long_texts_the_part_is_shown_in_which_they_differ(tmp_path: Path) -> None:
    was, now = (replace(SETUP, a=replace(SETUP.a, words=("dd", f"of={'x' * 100}{end}"))) for end in ("one", "two"))
    with DataFile(tmp_path / "runs.jsonl", was, BED):
        pass
    with pytest.raises(UsageError, match=r"a\.words was …x{20}one, is …x{20}two\. Name"):
        DataFile(tmp_path / "runs.jsonl", now, BED)


def test_two_measurements_do_not_write_to_one_file(path: Path) -> None:
    with DataFile(path, SETUP, BED), pytest.raises(UsageError, match="another measurement writes to it"):
        DataFile(path, SETUP, BED)


def test_a_damaged_line_is_named(path: Path) -> None:
    lines = path.read_text().splitlines()
    lines[2] = lines[2][:30]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ConfigError, match=r"delta\.jsonl:3: damaged"):
        read(path)


def test_a_run_of_an_unknown_policy_is_named(path: Path) -> None:
    path.write_text(path.read_text().replace('"policy": "none"', '"policy": "lottery"'))
    with pytest.raises(
        ConfigError, match=r"delta\.jsonl: no file of a Δ-graph: policy 'lottery' is not known; known: "
    ):
        read(path)


def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"version": 9}\n')
    with pytest.raises(ConfigError, match="no file of a Δ-graph: expected a setup of version 1"):
        read(other)
