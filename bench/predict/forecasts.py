#!/usr/bin/env python3
"""How well the calls of real applications are forecast: records each as applications.py says, replays its rank 0."""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from applications import APPLICATIONS, Application, record

from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack
from halcyon.observe.recording.folder import DATA
from halcyon.predict.accuracy import EVEN, LIKELY
from halcyon.predict.scores import Score, predict
from halcyon.predict.streams import Columns, Stream, Streams


def main() -> int:
    for application in APPLICATIONS:
        if reason := application.missing():
            print(f"{application.name}: left out: {reason}", file=sys.stderr)
            continue
        folder = Path(tempfile.mkdtemp(dir=".")).resolve()
        run = record(application, folder / application.name)
        pack(run, run / DATA)
        measure(application, run / DATA)
        shutil.rmtree(folder)
    return 0


def measure(application: Application, dataset: Path) -> None:
    """Prints the figures of a recorded run: those of the thesis (1/n) first, then those weighed by probabilities."""
    symbols: list[np.ndarray[tuple[int], np.dtype[np.uint32]]] = []
    scores: list[np.ndarray[tuple[int], np.dtype[np.float32]]] = []

    def told(_stream: Stream, _calls: Columns, told_scores: Columns) -> None:
        symbols.append(told_scores["symbol"])
        scores.append(told_scores["context_even"])

    with Dataset.open(dataset) as opened:
        detail = predict(Streams(opened, ranks=[0]), only_detail=True, told=told).detail
    assert detail is not None
    score = detail.score
    name = application.name.replace("-", "_")
    show(f"context_after_first_iteration_{name}", repeated(score, np.concatenate(symbols), np.concatenate(scores)))
    for suffix, weight in (("", EVEN), ("_likely", LIKELY)):
        show(f"offset_correct_{name}{suffix}", score.whole.by[weight].offset)
        show(f"hit_ratio_{name}{suffix}", score.whole.by[weight].hit)
    error = score.whole.by[LIKELY].gap_difference_s
    immediate = score.whole.by["immediate"].gap_difference_s
    if error is not None and immediate:
        print(f"predict.interarrival_error_{name} {error / immediate:.6g} ratio", flush=True)


def repeated(
    score: Score,
    symbols: np.ndarray[tuple[int], np.dtype[np.uint32]],
    scores: np.ndarray[tuple[int], np.dtype[np.float32]],
) -> float | None:
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
