"""How well the calls of recorded applications are forecast: the bars that forecasts are held to."""

import functools
from dataclasses import dataclass
from statistics import geometric_mean

import numpy as np
import numpy.typing as npt
import pytest
from applications import APPLICATIONS
from forecasts import STORED, recordings

from halcyon.observe.dataset import Dataset
from halcyon.predict.accuracy import EVEN, LIKELY, NAIVE
from halcyon.predict.scores import Score, predict
from halcyon.predict.streams import Columns, Stream, Streams

NAMES = [application.name for application in APPLICATIONS]
ALL = [(name, place.name) for name in NAMES for place in recordings(name)]
"""Every recording of every application: none was selected."""

OFFSETS = {"cloud-posix": 0.97, "cloud-gzip": 0.92, "cloud-mpiio": 0.995}
HITS = {"cloud-posix": 0.93, "cloud-gzip": 0.90, "cloud-mpiio": 0.985, "lammps": 0.995}
OVER_LAST_VALUE = 0.95
"""Error of times between calls, over that of expecting the last time again; geometric mean of all recordings."""
OVER_BEST_NAIVE = 1.5
"""The same of each recording, over the best of the naive forecasts: no application pays for the others' mean."""

LAST_FILES = (".json", ".csv")
"""What the cloud writes once, when its last phase is over: nothing could know of it."""


@dataclass(frozen=True)
class Recorded:
    """Of rank 0, the learning phase included. `missed`: calls of which the call site was not the only one forecast."""

    score: Score
    missed: list[tuple[int, str]]
    """Number and path."""
    symbols: npt.NDArray[np.uint32]
    """Of all calls: where in the program they were made."""


@functools.cache
def recorded(name: str, number: str) -> Recorded:
    missed: list[tuple[int, str]] = []
    symbols: list[npt.NDArray[np.uint32]] = []
    seen = 0
    with Dataset.open(STORED / name / number) as dataset:
        streams = Streams(dataset, ranks=[0])
        paths = {stream: streams.paths(stream) for stream in streams.all}

        def told(stream: Stream, calls: Columns, scores: Columns) -> None:
            nonlocal seen
            for at in np.flatnonzero(scores["context_even"] < 1):
                missed.append((seen + int(at), paths[stream][calls["file"][at]]))
            symbols.append(scores["symbol"])
            seen += len(calls["file"])

        detail = predict(streams, only_detail=True, told=told).detail
    assert detail is not None
    return Recorded(detail.score, missed, np.concatenate(symbols))


def missed_later(found: Recorded) -> list[tuple[int, str]]:
    """After the first iteration, as far as anybody could know."""
    assert found.score.settled is not None
    # What begins the second iteration has never come after what ended the first one.
    second = found.score.stream.calls - found.score.settled.calls
    return [one for one in found.missed if one[0] > second and not one[1].endswith(LAST_FILES)]


def of(*names: str) -> list[tuple[str, str]]:
    return [one for one in ALL if one[0] in names]


def test_every_application_is_recorded() -> None:
    assert {name for name, _ in ALL} == set(NAMES)


@pytest.mark.parametrize(("name", "number"), of("cloud-posix", "cloud-mpiio"))
def test_every_call_site_of_the_cloud_is_forecast_after_its_first_iteration(name: str, number: str) -> None:
    assert missed_later(recorded(name, number)) == []


@pytest.mark.parametrize(("name", "number"), of("cloud-gzip"))
def test_of_compressed_files_only_the_number_of_metadata_writes_is_not_forecast(name: str, number: str) -> None:
    """How large the compressed chunks are decides how many there are."""
    found = recorded(name, number)
    began = np.flatnonzero(np.diff(found.symbols, prepend=np.uint32(0)))
    lengths: dict[int, set[int]] = {}
    for begin, length in zip(began, np.diff(began, append=len(found.symbols)), strict=True):
        lengths.setdefault(int(found.symbols[begin]), set()).add(int(length))
    several = {symbol for symbol, all_of_it in lengths.items() if len(all_of_it) > 1}
    missed = missed_later(found)
    assert {int(found.symbols[number - 1]) for number, _ in missed} <= several
    assert len(several) == 1
    assert 0 < len(missed) < 0.02 * found.score.stream.calls


@pytest.mark.parametrize(("name", "number"), of(*OFFSETS))
def test_offsets_are_forecast(name: str, number: str) -> None:
    for weight in (EVEN, LIKELY):
        offset = recorded(name, number).score.whole.by[weight].offset
        assert offset is not None
        assert offset >= OFFSETS[name]


@pytest.mark.parametrize(("name", "number"), of(*HITS))
def test_segments_are_forecast(name: str, number: str) -> None:
    for weight in (EVEN, LIKELY):
        hit = recorded(name, number).score.whole.by[weight].hit
        assert hit is not None
        assert hit >= HITS[name]


def test_times_between_calls_are_forecast_better_than_by_the_last_value() -> None:
    ratios = []
    for name, number in ALL:
        by = recorded(name, number).score.whole.by
        own, last = by[LIKELY].gap_difference_s, by["last-value"].gap_difference_s
        assert own is not None
        assert last
        ratios.append(own / last)
    assert geometric_mean(ratios) <= OVER_LAST_VALUE


@pytest.mark.parametrize(("name", "number"), ALL)
def test_times_between_calls_of_no_recording_are_forecast_far_worse_than_naively(name: str, number: str) -> None:
    by = recorded(name, number).score.whole.by
    own = by[LIKELY].gap_difference_s
    naive = [error for one in NAIVE if (error := by[one].gap_difference_s) is not None]
    assert own is not None
    assert len(naive) >= 3
    assert own <= OVER_BEST_NAIVE * min(naive)
