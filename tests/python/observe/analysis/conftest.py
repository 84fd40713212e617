"""Opens synthetic runs for the analyses."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from observe.synthetic import Trace

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.dataset import Dataset

Ask = Callable[..., Answers]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Stores a trace and asks it: `ask(trace, settings).bandwidths`."""
    opened: list[Dataset] = []

    def answer(trace: Trace, settings: Settings | None = None, **info: object) -> Answers:
        opened.append(Dataset.open(trace.store(tmp_path / f"run{len(opened)}", **info)))
        return Answers(opened[-1], settings)

    yield answer
    for dataset in opened:
        dataset.close()
