"""The calls in the page are those of the data set: all of them, or some and the sums of the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sample_run import Shape, write_run

from halcyon.observe.dataset import Dataset, DatasetWriter
from halcyon.observe.schema import Kind, RunInfo
from halcyon.observe.viewer.timeline import Calls, Limits, read_timeline


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    folder = tmp_path_factory.mktemp("viewer") / "run"
    write_run(folder, Shape(ranks=4, checkpoints=3, variables=4))
    with Dataset.open(folder) as dataset:
        yield dataset


@dataclass
class _Rows:
    """The page's columns by name."""

    calls: Calls

    def __getitem__(self, name: str) -> np.ndarray:
        [found] = [values.array for values in self.calls.columns if values.name == name]
        return np.asarray(found, np.int64)

    def has(self, name: str) -> bool:
        return any(values.name == name for values in self.calls.columns)


def _all(dataset: Dataset) -> dict[str, np.ndarray]:
    table = dataset.calls.to_pyarrow()
    return {
        name: table[name].to_numpy(zero_copy_only=False)
        for name in ("process", "level", "call", "kind", "start_ns", "duration_ns")
    }


def test_every_call_is_there_once_in_its_lane(run: Dataset) -> None:
    calls = read_timeline(run)
    rows, truth, timeline = _Rows(calls), _all(run), calls.timeline
    assert timeline.calls == len(truth["process"])
    assert timeline.summed_calls == 0
    assert timeline.shorter_than_s is None
    assert not rows.has("cell_bin")
    lane = np.searchsorted(rows["call_lane"], np.arange(timeline.calls), side="right") - 1
    ours = {
        (
            timeline.processes[lane[i] // len(timeline.levels)].process,
            timeline.levels[lane[i] % len(timeline.levels)],
            timeline.functions[rows["call_function"][i]].call,
            rows["call_start"][i],
            rows["call_duration"][i],
        )
        for i in range(timeline.calls)
    }
    assert ours == {
        (truth["process"][i], truth["level"][i], truth["call"][i], truth["start_ns"][i], truth["duration_ns"][i])
        for i in range(timeline.calls)
    }
    for first, last in pairwise(rows["call_lane"]):
        assert (np.diff(rows["call_start"][first:last]) >= 0).all()


def test_of_too_many_calls_none_is_lost(run: Dataset) -> None:
    limits = Limits(every_call=100, longest=60, cells=2000, bins=128, examples=200)
    calls = read_timeline(run, limits)
    rows, truth, timeline = _Rows(calls), _all(run), calls.timeline
    assert timeline.calls + timeline.summed_calls == len(truth["process"])
    assert rows["cell_calls"].sum() == timeline.summed_calls
    assert rows["cell_busy"].sum() + rows["call_duration"].sum() == truth["duration_ns"].sum()
    assert timeline.summed_calls > 0.5 * len(truth["process"])
    assert timeline.shorter_than_s is not None
    longest = truth["duration_ns"] >= timeline.shorter_than_s * 1e9
    assert np.isin(truth["start_ns"][longest], rows["call_start"]).all()
    assert len(rows["cell_bin"]) <= limits.cells
    assert rows["cell_bin"].max() * timeline.bin_s <= timeline.duration_s


def test_cells_say_what_took_most_of_their_time(run: Dataset) -> None:
    calls = read_timeline(run, Limits(every_call=0, longest=0, examples=0, bins=64))
    rows, truth, timeline = _Rows(calls), _all(run), calls.timeline
    assert timeline.bin_s is not None
    bins = truth["start_ns"] // round(timeline.bin_s * 1e9)
    lane = np.searchsorted(rows["cell_lane"], np.arange(len(rows["cell_bin"])), side="right") - 1
    for at in range(0, len(lane), 7):
        process = timeline.processes[lane[at] // len(timeline.levels)].process
        level = timeline.levels[lane[at] % len(timeline.levels)]
        own = (truth["process"] == process) & (truth["level"] == level) & (bins == rows["cell_bin"][at])
        spent = {kind: truth["duration_ns"][own & (truth["kind"] == kind)].sum() for kind in set(truth["kind"][own])}
        assert rows["cell_busy"][at] == sum(spent.values())
        assert spent[timeline.kinds[rows["cell_kind"][at]]] == max(spent.values())


def test_examples_keep_all_calls_that_they_are_made_of(run: Dataset) -> None:
    limits = Limits(every_call=100, longest=4, examples=100)
    rows = _Rows(calls := read_timeline(run, limits))
    truth = _all(run)
    own = [i for i, f in enumerate(calls.timeline.functions) if f.call == "MPI_File_write_at_all"]
    mpi = np.flatnonzero(np.isin(rows["call_function"], own))
    longest = mpi[np.argmax(rows["call_duration"][mpi])]
    first, last = rows["call_start"][longest], rows["call_start"][longest] + rows["call_duration"][longest]
    levels = len(calls.timeline.levels)
    lane = np.searchsorted(rows["call_lane"], np.arange(len(rows["call_start"])), side="right") - 1
    process = calls.timeline.processes[lane[longest] // levels].process

    def inside(start: np.ndarray, duration: np.ndarray) -> np.ndarray:
        return (start >= first) & (start + duration <= last)

    ours = inside(rows["call_start"], rows["call_duration"]) & (lane // levels == lane[longest] // levels)
    there = inside(truth["start_ns"], truth["duration_ns"]) & (truth["process"] == process)
    assert ours.sum() == there.sum() == 21


def test_calls_without_times_are_counted(tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "run", RunInfo("test", None, None, None)) as writer:
        writer.write("processes", pa.table({"process": [0]}))
        times = pa.array([5, None], pa.int64())
        names = {"level": ["posix"] * 2, "call": ["read"] * 2, "kind": ["read"] * 2}
        writer.write("calls", pa.table({"process": [0, 0], **names, "start_ns": times, "duration_ns": times}))
    with Dataset.open(tmp_path / "run") as dataset:
        timeline = read_timeline(dataset).timeline
    assert (timeline.calls, timeline.without_times) == (1, 1)


def test_a_run_without_calls_has_an_empty_timeline(tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "run", RunInfo("test", None, None, None)):
        pass
    with Dataset.open(tmp_path / "run") as dataset:
        calls = read_timeline(dataset)
    assert (calls.timeline.calls, calls.timeline.processes, calls.timeline.levels) == (0, [], [])
    assert calls.timeline.kinds == [kind.value for kind in Kind]


def test_files_that_logs_alone_use_have_their_paths(tmp_path: Path) -> None:
    words = {"level": ["posix", "log", "log"], "call": ["write", "log pwrite", "log stat"]}
    numbers = {"process": [0] * 3, "start_ns": [0, 1, 2], "duration_ns": [9, 1, 1], "file": [0, 1, 0]}
    with DatasetWriter(tmp_path / "run", RunInfo("test", None, None, None)) as writer:
        writer.write("processes", pa.table({"process": [0]}))
        writer.write("files", pa.table({"file": [0, 1], "path": ["/a", "/a/hostdir.0/data.n0.1.2"]}))
        writer.write("calls", pa.table(words | {"kind": ["write", "write", "stat"]} | numbers))
    with Dataset.open(tmp_path / "run") as dataset:
        timeline = read_timeline(dataset).timeline
    assert timeline.levels == ["posix", "log"]
    assert timeline.log_paths == {"1": "/a/hostdir.0/data.n0.1.2"}
