"""What a title says of several runs: the value at either end of a scale, and which runs have it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def best_and_worst(
    runs: Sequence[tuple[str, T]], scale: Callable[[T], float], told: Callable[[T], str], sentence: str = "{}"
) -> str:
    """`sentence` with the value that is first on `scale` and its runs, then the value that is last and its runs.

    `told` is how a value is written; runs whose values are written alike are named together, and where all are, only
    one value is told. A single run needs no name: then it is `sentence` alone.
    """
    ordered = sorted(runs, key=lambda run: scale(run[1]))
    texts = [told(value) for _, value in ordered]
    first = sentence.format(texts[0])
    if len(ordered) == 1:
        return first

    def names(text: str) -> str:
        return _listed([label for (label, _), own in zip(ordered, texts, strict=True) if own == text])

    found = f"{first} with {names(texts[0])}"
    return found if texts[-1] == texts[0] else f"{found}, {texts[-1]} with {names(texts[-1])}"


def _listed(labels: list[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    return f"{labels[0]} and {labels[1] if len(labels) == 2 else f'{len(labels) - 1} others'}"
