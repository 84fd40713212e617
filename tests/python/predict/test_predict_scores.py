"""Scores of a program for which they can be worked out by hand."""

from pathlib import Path

import pytest
from predict.known_program import CALLS, known_program, stored

from halcyon.observe.dataset import Dataset
from halcyon.predict import scores
from halcyon.predict.accuracy import EVEN, LIKELY
from halcyon.predict.page import predictability
from halcyon.predict.scores import Prediction, Settings, predict
from halcyon.predict.streams import Streams

ITERATIONS = 20


def predicted(folder: Path, iterations: int = ITERATIONS, **shape: int) -> Prediction:
    with Dataset.open(stored(known_program(iterations, **shape), folder / "run")) as dataset:  # type: ignore[arg-type]
        return predict(Streams(dataset))


def test_a_regular_program_is_forecast_without_fault_once_it_is_known(tmp_path: Path) -> None:
    score = predicted(tmp_path).streams[0]
    for name in (LIKELY, EVEN):
        own = score.half.by[name]
        assert (own.context, own.offset, own.hit, own.transfer_hit, own.size_exact, own.file) == (1, 1, 1, 1, 1, 1)
        assert own.size_error == 0
        assert own.gap_difference_s == pytest.approx(0, abs=1e-9)
    assert score.half.calls == ITERATIONS * CALLS // 2


def test_naive_predictors_score_what_follows_from_their_rules(tmp_path: Path) -> None:
    by = predicted(tmp_path).streams[0].half.by
    # Right behind the access before: the write at 0, as an open leads there; not the one behind the hole. An open and a
    # close transfer nothing, and it expects them to.
    contiguous = by["contiguous"]
    assert (contiguous.context, contiguous.offset, contiguous.hit, contiguous.transfer_hit) == (None, 0.5, 0.25, 0.5)
    assert contiguous.size_exact == 1
    # The same again: right at the second write.
    assert (by["immediate"].context, by["immediate"].offset) == (0.25, 0.5)
    # After a write came, the last time, whatever does not come now.
    assert by["last-value"].context == 0.5
    # Two calls tell the writes apart.
    assert (by["markov-2"].context, by["markov-2"].offset, by["markov-2"].hit) == (1, 1, 1)
    # A second before each open, a millisecond before each other call.
    assert by["immediate"].gap_difference_s == pytest.approx((1 + 3 * 0.001) / 4)


def test_learning_is_scored_too(tmp_path: Path) -> None:
    score = predicted(tmp_path).streams[0]
    context = score.whole.by[LIKELY].context
    assert context is not None
    # All 4 calls of the first iteration come as a surprise, and few others.
    assert 1 - 12 / (ITERATIONS * CALLS) <= context <= 1 - 3 / (ITERATIONS * CALLS)


def test_the_second_iteration_begins_like_the_first(tmp_path: Path) -> None:
    trace = known_program(6)
    # Before it, another phase: its configuration is read.
    file = trace.file("/etc/model.conf")
    trace.read(0, file, 0, 80, -3000, 1)
    trace.read(0, file, 80, 80, -2998, 1)
    with Dataset.open(stored(trace, tmp_path / "run")) as dataset:
        prediction = predict(Streams(dataset))
    assert prediction.detail is not None
    assert prediction.detail.figures.learnt == 2 + CALLS
    settled = prediction.streams[0].settled
    assert settled is not None
    assert settled.calls == 5 * CALLS
    assert prediction.streams[0].model.phases == 7


def test_one_phase_is_all_learning(tmp_path: Path) -> None:
    score = predicted(tmp_path, iterations=1).streams[0]
    assert score.settled is None
    assert score.model.phases == 1
    assert score.model.next_phase_s is None


def test_pieces_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = predicted(tmp_path / "whole")
    monkeypatch.setattr(scores, "PIECE", 3)
    pieces = predicted(tmp_path / "pieces")
    assert whole.streams == pieces.streams
    assert whole.detail == pieces.detail


def test_every_thread_has_a_model_of_its_own(tmp_path: Path) -> None:
    prediction = predicted(tmp_path, ranks=3)
    assert [one.stream.rank for one in prediction.streams] == [0, 1, 2]
    first = prediction.streams[0]
    assert all(one.whole == first.whole and one.model.symbols == first.model.symbols for one in prediction.streams)


def test_what_finds_no_room_in_the_model_is_told(tmp_path: Path) -> None:
    with Dataset.open(stored(known_program(ITERATIONS), tmp_path / "run")) as dataset:
        small = predict(Streams(dataset), Settings(memory_bytes=1 << 10)).streams[0].model
    assert small.unlearned > 0
    assert small.memory_peak_bytes < 1 << 14


def test_a_page_tells_of_the_first_calls_and_how_many_more_there_are(tmp_path: Path) -> None:
    with Dataset.open(stored(known_program(ITERATIONS, ranks=2), tmp_path / "run")) as dataset:
        found = predictability(dataset, most_calls=30)
    assert found is not None
    assert (found.name, found.calls, found.beyond, found.streams) == ("rank 0", 30, ITERATIONS * CALLS - 30, 2)
    assert found.whole.calls == found.figures.calls == 30
    assert found.contexts == "contexts: functions only"


def test_told_in_detail_is_rank_0_unless_it_transfers_nothing(tmp_path: Path) -> None:
    trace = known_program(3, ranks=2)
    trace.calls = [call for call in trace.calls if call.process or call.kind == "open"]
    with Dataset.open(stored(trace, tmp_path / "run")) as dataset:
        prediction = predict(Streams(dataset))
    assert prediction.detail is not None
    assert prediction.detail.score.stream.rank == 1
