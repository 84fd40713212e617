"""Opens synthetic runs for the analyses."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from observe.synthetic import Trace

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.dataset import Dataset
from halcyon.observe.findings import Finding, findings

Ask = Callable[..., Answers]
FindingsOf = Callable[..., list[Finding]]


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


@pytest.fixture(scope="session")
def findings_of(tmp_path_factory: pytest.TempPathFactory) -> FindingsOf:
    """`findings_of(scenarios.sieving, fresh=False)`: the findings of a scenario, which is asked once."""
    known: dict[object, list[Finding]] = {}

    def answer(scenario: Callable[..., Trace], **how: object) -> list[Finding]:
        key = (scenario.__name__, *sorted(how.items()))
        if key not in known:
            with Dataset.open(scenario(**how).store(tmp_path_factory.mktemp("scenario") / "run")) as dataset:
                known[key] = findings(Answers(dataset))
        return known[key]

    return answer


def pick(every: list[Finding], key: str) -> Finding:
    """The finding called `key`."""
    named = {one.key: one for one in every}
    assert key in named, f"found only {sorted(named)}"
    return named[key]
