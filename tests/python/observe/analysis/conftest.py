"""Opens synthetic runs for the analyses."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from observe.synthetic import Trace

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.dataset import Dataset
from halcyon.observe.findings import (
    Finding,
    collective_buffering,
    collective_setup,
    collective_waiting,
    data_sieving,
    findings,
    frequent_sync,
    metadata_storm,
    misalignment,
    mpiio_overhead,
    one_rank_moves_all,
    random_access,
    redundant_reads,
    slow_rank,
    slow_server,
    small_transfers,
    synchronous_writes,
)

_FINDERS = {
    "collective-buffering": collective_buffering,
    "collective-exchange": collective_waiting,
    "collective-setup": collective_setup,
    "collective-wait": collective_waiting,
    "data-sieving": data_sieving,
    "frequent-sync": frequent_sync,
    "metadata-storm": metadata_storm,
    "misaligned": misalignment,
    "mpiio-overhead": mpiio_overhead,
    "one-rank": one_rank_moves_all,
    "random": random_access,
    "redundant-reads": redundant_reads,
    "slow-rank": slow_rank,
    "slow-server": slow_server,
    "small": small_transfers,
    "synchronous-writes": synchronous_writes,
    "uneven-servers": slow_server,
}
"""By how the keys of their findings begin."""

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


def _found_alone(answers: Answers, key: str) -> list[Finding]:
    return next(finder for start, finder in _FINDERS.items() if key.startswith(start)).find(answers)


def finding_of(answers: Answers, key: str) -> Finding:
    """The finding called `key`; only its own kind is looked for, which takes a tenth of the time of all."""
    return pick(_found_alone(answers, key), key)


def is_found(answers: Answers, key: str) -> bool:
    """Whether there is a finding called `key`; only its own kind is looked for."""
    return key in {one.key for one in _found_alone(answers, key)}
