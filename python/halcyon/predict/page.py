"""What the page of a run tells of its predictability."""

from dataclasses import dataclass

from halcyon.observe.dataset import Dataset
from halcyon.predict.bounds import Bound
from halcyon.predict.figures import Figures
from halcyon.predict.scores import Model, Stretch, predict
from halcyon.predict.streams import Streams
from halcyon.predict.words import contexts, left_out, level_note, name_of

MOST_CALLS = 2_000_000
"""That are replayed for a page: a few seconds."""


@dataclass(frozen=True)
class Predictability:
    """Of one thread of a run."""

    name: str
    """Whose calls these are."""
    calls: int
    beyond: int
    """Further calls of the thread, which are not replayed."""
    streams: int
    """Threads of the run that `halcyon predict` would replay."""
    contexts: str
    notes: list[str]
    """What stands for something else, or is left out; of the whole run."""
    whole: Stretch
    settled: Stretch | None
    model: Model
    bounds: list[Bound]
    figures: Figures


def predictability(dataset: Dataset, most_calls: int = MOST_CALLS) -> Predictability | None:
    """Of rank 0, if it reads or writes, else of the busiest thread; None: there is nothing to replay.

    UnavailableError: the compiled part of the package is missing.
    """
    streams = Streams(dataset)
    prediction = predict(streams, only_detail=True, most_calls=most_calls)
    detail = prediction.detail
    if detail is None:
        return None
    score = detail.score
    chosen = prediction.selection
    return Predictability(
        name=name_of(score.stream, streams.all),
        calls=score.whole.calls,
        beyond=score.stream.calls - score.whole.calls,
        streams=len(streams.all),
        contexts=contexts(chosen),
        notes=[note for note in (level_note(chosen), left_out(chosen)) if note],
        whole=score.whole,
        settled=score.settled,
        model=score.model,
        bounds=detail.bounds,
        figures=detail.figures,
    )
