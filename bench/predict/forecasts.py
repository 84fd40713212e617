#!/usr/bin/env python3
"""How well the calls of real applications are forecast: replays rank 0 of each recording of those of applications.py.

--anew      records each five times here, instead of taking the recordings of tests/data/predict
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np
import numpy.typing as npt
from applications import APPLICATIONS, ROOT, Application, record

from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack
from halcyon.observe.recording.folder import DATA
from halcyon.predict.accuracy import EVEN, LIKELY
from halcyon.predict.scores import Score, predict
from halcyon.predict.streams import Columns, Stream, Streams

Array = npt.NDArray[Any]


STORED = ROOT / "tests/data/predict"
"""Made by small_data.py."""
NAIVE_TIMES = ("contiguous", "last-value", "markov-2")
"""The naive predictors that stand beside; contiguous ones expect every call at once."""


RECORDINGS = 5
"""Of each application. All of them are kept and count, whatever they are like."""


def recordings(name: str, stored: Path = STORED) -> list[Path]:
    """The data sets of an application, in the order in which they were recorded."""
    return sorted(stored.glob(f"{name}/*"), key=lambda place: int(place.name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anew", action="store_true")
    anew = parser.parse_args().anew
    ratios: list[float] = []
    for application in APPLICATIONS:
        found = replayed_anew(application) if anew else [replayed(place) for place in recordings(application.name)]
        if found:
            measure(application, found)
        ratios += [one.over_last_value for one in found if one.over_last_value is not None]
    if ratios:
        print(f"predict.interarrival_over_last_value {geometric_mean(ratios):.6g} ratio", flush=True)
    return 0


def replayed_anew(application: Application) -> list["Replayed"]:
    if reason := application.missing():
        print(f"{application.name}: left out: {reason}", file=sys.stderr)
        return []
    found = []
    for _ in range(RECORDINGS):
        folder = Path(tempfile.mkdtemp(dir=".")).resolve()
        run = record(application, folder / application.name)
        pack(run, run / DATA)
        found.append(replayed(run / DATA))
        shutil.rmtree(folder)
    return found


@dataclass(frozen=True)
class Replayed:
    """Rank 0 of a recorded run, and what was told of each of its calls."""

    score: Score
    symbols: Array
    contexts: Array
    """Scores of the call sites, 1/n."""
    gaps: Array
    """Interarrival times, nanoseconds."""

    def gap_error(self, predictor: str = LIKELY) -> float | None:
        """Mean difference of expected and observed interarrival times, over that of always expecting none."""
        by = self.score.whole.by
        error, immediate = by[predictor].gap_difference_s, by["immediate"].gap_difference_s
        return error / immediate if error is not None and immediate else None

    @property
    def over_last_value(self) -> float | None:
        """The error of the forecasts, over that of expecting the time that came the last time."""
        own, last = self.gap_error(), self.gap_error("last-value")
        return own / last if own is not None and last else None

    @property
    def hindsight(self) -> float:
        return hindsight(self.symbols, self.gaps)


def replayed(dataset: Path) -> Replayed:
    pieces: dict[str, list[Array]] = {"symbol": [], "context_even": [], "gap_observed_ns": []}

    def told(_stream: Stream, _calls: Columns, scores: Columns) -> None:
        for name, piece in pieces.items():
            piece.append(scores[name])

    with Dataset.open(dataset) as opened:
        detail = predict(Streams(opened, ranks=[0]), only_detail=True, told=told).detail
    assert detail is not None
    return Replayed(detail.score, *(np.concatenate(piece) for piece in pieces.values()))


def measure(application: Application, found: list[Replayed]) -> None:
    """Prints medians of the recordings of an application: first those of the thesis (1/n), then weighed by
    probabilities."""
    name = application.name.replace("-", "_")
    show(f"context_after_first_iteration_{name}", [repeated(one.score, one.symbols, one.contexts) for one in found])
    for suffix, weight in (("", EVEN), ("_likely", LIKELY)):
        wholes = [one.score.whole.by[weight] for one in found]
        show(f"offset_correct_{name}{suffix}", [whole.offset for whole in wholes])
        show(f"hit_ratio_{name}{suffix}", [whole.hit for whole in wholes])
    errors: dict[str, Sequence[float | None]] = {
        "": [one.gap_error() for one in found],
        "_hindsight": [one.hindsight for one in found],
    }
    errors |= {f"_{naive.replace('-', '_')}": [one.gap_error(naive) for one in found] for naive in NAIVE_TIMES}
    for suffix, of_all in errors.items():
        if known := [one for one in of_all if one is not None]:
            for spread, value in (("", median(known)), ("_least", min(known)), ("_most", max(known))):
                print(f"predict.interarrival_error_{name}{suffix}{spread} {value:.6g} ratio", flush=True)


def hindsight(symbols: Array, gaps: Array) -> float:
    """The same of one constant for each transition between two call sites: the median of its times, taken from the
    whole recording. It says how steady the machine was; a forecast that follows the machine can be better."""
    before = np.concatenate([[0], symbols[:-1]]).astype(np.uint64)
    transitions = before << np.uint64(32) | symbols
    known = ~np.isnan(gaps)
    off = 0.0
    for transition in np.unique(transitions[known]):
        of_it = gaps[known & (transitions == transition)]
        off += float(np.abs(of_it - np.median(of_it)).sum())
    return off / float(gaps[known].sum())


def repeated(score: Score, symbols: Array, scores: Array) -> float | None:
    """Mean context score (1/n) behind the first call of the second iteration, of calls from places in the program that
    had come before, and up to the last iteration's end, where other code begins: nobody could know of the rest."""
    if score.settled is None:
        return None
    begin = score.stream.calls - score.settled.calls + 1
    first = np.zeros(len(symbols), bool)
    first[np.unique(symbols, return_index=True)[1]] = True
    counted = ~first
    counted[:begin] = False
    last_begin = int(np.flatnonzero(symbols == symbols[begin - 1])[-1])
    if first[last_begin:].any():
        counted[last_begin + int(np.argmax(first[last_begin:])) :] = False
    return float(scores[counted].mean()) if counted.any() else None


def show(name: str, shares: list[float | None]) -> None:
    if known := [share for share in shares if share is not None]:
        print(f"predict.{name} {100 * median(known):.6g} %", flush=True)


if __name__ == "__main__":
    sys.exit(main())
