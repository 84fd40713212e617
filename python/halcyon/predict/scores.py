"""Replays streams through the predictor, and sums up how its forecasts did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from halcyon.compiled import core
from halcyon.predict.accuracy import Accuracy, Tally, Values
from halcyon.predict.bounds import MOST_CALLS, Bound, bounds
from halcyon.predict.figures import Figures, Plotter
from halcyon.predict.iterations import Beginning, Beginnings
from halcyon.predict.streams import OPERATIONS, Columns, Selection, Stream, Streams

PIECE = 1 << 16
"""Calls whose scores are held at a time."""


@dataclass(frozen=True)
class Settings:
    """Of the model; the defaults are those of the layer."""

    memory_bytes: int = 4 << 20
    distinct_values: int = 24
    """More distinct sizes of a call site, or offset changes of a transition, become statistics."""
    least_pause_ns: int = 10_000_000
    """Shorter pauses start no new phase."""


@dataclass(frozen=True)
class Stretch:
    """Some of the calls of a stream, and how each predictor did there; by the names of accuracy.PREDICTORS."""

    calls: int
    by: dict[str, Accuracy]


@dataclass(frozen=True)
class Model:
    """What the model had become in the end."""

    grammar_runs: int
    """Sum of the lengths of all rules; a run of the same symbol counts as one."""
    grammar_rules: int
    symbols: int
    transitions: int
    memory_bytes: int
    memory_peak_bytes: int
    unlearned: int
    """Calls that found no room in its memory."""
    phases: int
    pause_s: float
    """Longer pauses separated them."""
    next_phase_s: float | None
    """Expected after the last call."""
    next_phase_deviation_s: float | None
    next_phase_confidence: float
    next_phase_earliest_s: float | None
    """Nine of ten such phases begin between this and the next; None: no forecast was compared with what came yet."""
    next_phase_latest_s: float | None


@dataclass(frozen=True)
class Score:
    """Of one stream."""

    stream: Stream
    whole: Stretch
    """All calls, the learning phase included."""
    settled: Stretch | None
    """From the second iteration on; None: there is none."""
    half: Stretch
    """The second half of the calls."""
    model: Model


@dataclass(frozen=True)
class Detail:
    """More of one stream, told when its Score is."""

    score: Score
    bounds: list[Bound]
    """From the second iteration on, or of the whole stream where there is none."""
    figures: Figures


@dataclass(frozen=True)
class Prediction:
    """Of a data set."""

    directory: str
    """Where it is."""
    source: str
    command: str | None
    ended_badly: str | None
    """How the command failed; None: it did not, or nobody knows."""
    mpi: bool
    settings: Settings
    selection: Selection
    streams: list[Score]
    detail: Detail | None
    """Of rank 0, if it reads or writes, else of the stream with the most calls; None: there are no calls."""


class _Replayed:
    """One stream on its way through the model."""

    def __init__(self, streams: Streams, stream: Stream, calls: int, settings: Settings, detailed: bool) -> None:
        """`calls`: how many will come."""
        self.stream = stream
        self._half = calls // 2
        self._replay = core().Replay(
            streams.paths(stream),
            memory_bytes=settings.memory_bytes,
            distinct_values=settings.distinct_values,
            least_pause_ns=settings.least_pause_ns,
        )
        self._tally = Tally()
        self._first_half: Tally | None = None
        self._beginnings = Beginnings(settings.least_pause_ns)
        self._plotter = Plotter(calls) if detailed else None
        self._symbols: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        self._sizes: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

    def add(self, calls: Columns, told: Callable[[Stream, Columns, Columns], None] | None) -> None:
        """The next calls, of any number."""
        for begin in range(0, len(calls["file"]), PIECE):
            piece = {name: column[begin : begin + PIECE] for name, column in calls.items()}
            scores = self._replay.score(piece)
            if told is not None:
                told(self.stream, piece, scores)
            self._count(piece, scores)
            if self._plotter is not None:
                self._plotter.add(piece, scores)
                self._keep(piece, scores)

    def _count(self, calls: Columns, scores: Columns) -> None:
        values = Values(calls, scores)
        first, count = self._tally.calls, len(calls["file"])
        half = self._half
        candidates = set(self._beginnings.candidates(scores["gap_observed_ns"], scores["symbol"]))
        stops = sorted(candidates | ({half - first} if first <= half < first + count else set()))
        done = 0
        for stop in stops:
            self._tally.add(values, done, stop)
            done = stop
            so_far = self._tally.copy()
            if first + stop == half:
                self._first_half = so_far
            if stop in candidates:
                gap, symbol = float(scores["gap_observed_ns"][stop]), int(scores["symbol"][stop])
                self._beginnings.add(Beginning(first + stop, gap, symbol, so_far))
        self._tally.add(values, done, count)
        self._beginnings.forget(self._replay.state()["pause_ns"])

    def _keep(self, calls: Columns, scores: Columns) -> None:
        moves = np.isin(calls["operation"], [OPERATIONS.index(kind) for kind in ("read", "write", "copy")])
        self._symbols.append(scores["symbol"].astype(np.int64))
        self._sizes.append(np.where(moves, calls["bytes"], -1))
        while sum(map(len, self._symbols)) - len(self._symbols[0]) >= MOST_CALLS:
            del self._symbols[0], self._sizes[0]

    def save(self, streams: Streams, directory: Path) -> None:
        """Keeps the model, as the layer `predict` does."""
        functions, contexts = streams.labels(self.stream)
        self._replay.save(str(directory / streams.model_name(self.stream)), functions, contexts)

    def result(self) -> tuple[Score, Detail | None]:
        """When all calls have come."""
        state = self._replay.state()
        second = self._beginnings.second_iteration(state["pause_ns"])
        settled = self._tally.less(second.before) if second else None
        half = self._tally.less(self._first_half or Tally())
        known = state["next_phase_ns"] >= 0
        model = Model(
            state["grammar_runs"],
            state["grammar_rules"],
            state["symbols"],
            state["transitions"],
            state["memory_bytes"],
            state["memory_peak_bytes"],
            state["unlearned"],
            state["phases"] + 1,
            state["pause_ns"] / 1e9,
            _seconds(state["next_phase_ns"]),
            state["next_phase_deviation_ns"] / 1e9 if known else None,
            state["next_phase_confidence"],
            *(_seconds(state[f"next_phase_{bound}_ns"]) for bound in ("earliest", "latest")),
        )
        score = Score(self.stream, _stretch(self._tally), _stretch(settled) if settled else None, _stretch(half), model)
        if self._plotter is None:
            return score, None
        symbols, sizes = np.concatenate(self._symbols), np.concatenate(self._sizes)
        begin = max(len(symbols) - (settled.calls if settled else len(symbols)), len(symbols) - MOST_CALLS, 0)
        figures = self._plotter.figures(second.call if second else None)
        return score, Detail(score, bounds(symbols[begin:], sizes[begin:]), figures)


def _seconds(ns: int) -> float | None:
    """Negative: not known."""
    return ns / 1e9 if ns >= 0 else None


def _stretch(tally: Tally) -> Stretch:
    return Stretch(tally.calls, tally.accuracies())


def predict(
    streams: Streams,
    settings: Settings | None = None,
    *,
    only_detail: bool = False,
    most_calls: int | None = None,
    told: Callable[[Stream, Columns, Columns], None] | None = None,
    done: Callable[[int], None] | None = None,
    models: Path | None = None,
) -> Prediction:
    """Replays all streams, or the one that is told in detail; of each the first `most_calls`.

    `told` hears of every piece of calls and their scores, `done` of how many calls there were. `models`: a folder that
    keeps what each stream's model has become.
    """
    settings = settings or Settings()
    chosen = main_stream(streams.all)
    wanted = [chosen] if only_detail and chosen else streams.all
    info, directory = streams.info, streams.directory
    selection = streams.selection
    scores: list[Score] = []
    detail: Detail | None = None
    under_way: _Replayed | None = None
    if models is not None:
        streams.read_labels()

    def end() -> None:
        nonlocal detail
        if under_way is not None:
            score, more = under_way.result()
            scores.append(score)
            detail = more or detail
            if models is not None:
                under_way.save(streams, models)

    for stream, calls in streams.pieces(wanted, most_calls):
        if under_way is None or under_way.stream != stream:
            end()
            count = stream.calls if most_calls is None else min(stream.calls, most_calls)
            under_way = _Replayed(streams, stream, count, settings, stream == chosen)
        under_way.add(calls, told)
        if done is not None:
            done(len(calls["file"]))
    end()
    return Prediction(
        str(directory), info.source, info.command, info.ended_badly, streams.mpi, settings, selection, scores, detail
    )


def main_stream(streams: Sequence[Stream]) -> Stream | None:
    """Rank 0's (process 0's without MPI) busiest thread, if it reads or writes; else the one with the most calls."""
    ranked = any(stream.rank is not None for stream in streams)
    first = [one for one in streams if one.transfers and (one.rank if ranked else one.process) == 0]
    return max(first or streams, key=lambda one: (one.transfers, one.calls), default=None)
