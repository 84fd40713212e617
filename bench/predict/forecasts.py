#!/usr/bin/env python3
"""How well the calls of real applications are forecast: replays rank 0 of each of applications.py, as it was recorded.

--anew      records them here, instead of taking the recordings of tests/data/predict
"""

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anew", action="store_true")
    anew = parser.parse_args().anew
    for application in APPLICATIONS:
        if anew:
            measure_anew(application)
        else:
            measure(application, STORED / application.name)
    return 0


def measure_anew(application: Application) -> None:
    if reason := application.missing():
        print(f"{application.name}: left out: {reason}", file=sys.stderr)
        return
    folder = Path(tempfile.mkdtemp(dir=".")).resolve()
    run = record(application, folder / application.name)
    pack(run, run / DATA)
    measure(application, run / DATA)
    shutil.rmtree(folder)


@dataclass(frozen=True)
class Replayed:
    """Rank 0 of a recorded run, and what was told of each of its calls."""

    score: Score
    symbols: Array
    contexts: Array
    """Scores of the call sites, 1/n."""
    gaps: Array
    """Interarrival times, nanoseconds."""

    @property
    def gap_error(self) -> float | None:
        """Mean difference of expected and observed interarrival times, over that of always expecting none."""
        by = self.score.whole.by
        error, immediate = by[LIKELY].gap_difference_s, by["immediate"].gap_difference_s
        return error / immediate if error is not None and immediate else None

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


def measure(application: Application, dataset: Path) -> None:
    """Prints the figures of a recorded run: those of the thesis (1/n) first, then those weighed by probabilities."""
    found = replayed(dataset)
    name = application.name.replace("-", "_")
    show(f"context_after_first_iteration_{name}", repeated(found.score, found.symbols, found.contexts))
    for suffix, weight in (("", EVEN), ("_likely", LIKELY)):
        show(f"offset_correct_{name}{suffix}", found.score.whole.by[weight].offset)
        show(f"hit_ratio_{name}{suffix}", found.score.whole.by[weight].hit)
    if found.gap_error is not None:
        print(f"predict.interarrival_error_{name} {found.gap_error:.6g} ratio", flush=True)
        print(f"predict.interarrival_error_{name}_hindsight {found.hindsight:.6g} ratio", flush=True)


def hindsight(symbols: Array, gaps: Array) -> float:
    """The same of who knew from the beginning the best constant for each transition, its median: how steady the machine
    was."""
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


def show(name: str, share: float | None) -> None:
    if share is not None:
        print(f"predict.{name} {100 * share:.6g} %", flush=True)


if __name__ == "__main__":
    sys.exit(main())
