"""Two programs whose daemon is killed, stopped or restarted, or one of which is killed, just before a message of their
exchange arrives: those that are left end and lose nothing, no two have the turn, and turns go on."""

from collections.abc import Callable
from pathlib import Path

import exchange_faults
import pytest
from coordinator_process import CoordinatorProcess
from faulty_exchange import Step

pytestmark = pytest.mark.usefixtures("library")


@pytest.mark.parametrize("fault", exchange_faults.OF_ONE.values(), ids=exchange_faults.OF_ONE)
@pytest.mark.parametrize(
    "step",
    [
        Step("interrupt", "A", "registered"),
        Step("fcfs", "B", "inform"),
        Step("interrupt", "A", "grant"),
        Step("interrupt", "A", "recall"),
        Step("interrupt", "A", "stopped"),
        Step("fcfs", "A", "release"),
    ],
    ids=str,
)
def test_turns_outlive_a_fault(
    prepare: Callable[..., CoordinatorProcess],
    memory: Path,
    step: Step,
    fault: Callable[[CoordinatorProcess, Path, Step], None],
) -> None:
    fault(prepare(), memory, step)
