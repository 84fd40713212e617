"""Two programs, two daemons and a real etcd: the daemon that leads is killed just before a message arrives. Programs
that are patient have their turns from the next one, and no two have one at a time; others wait no longer than their
patience, whoever leads when."""

from collections.abc import Callable
from pathlib import Path

import pytest
from elected_pair import Pair
from exchange_faults import replace, replace_late, replace_twice
from faulty_exchange import Step

Fault = Callable[[Pair, Path, Step], None]

pytestmark = pytest.mark.usefixtures("library")


@pytest.mark.parametrize(
    ("fault", "step"),
    [
        (replace, Step("fcfs", "B", "inform")),
        (replace, Step("interrupt", "A", "grant")),
        (replace, Step("interrupt", "A", "stopping")),
        (replace, Step("interrupt", "A", "stopped")),
        (replace, Step("fcfs", "A", "release")),
        (replace_twice, Step("interrupt", "A", "registered")),
        (replace_late, Step("fcfs", "B", "wait")),
        (replace_late, Step("interrupt", "A", "recall")),
    ],
    ids=lambda one: one.__name__ if callable(one) else str(one),
)
def test_turns_outlive_the_daemon_that_leads(pair: Callable[..., Pair], memory: Path, fault: Fault, step: Step) -> None:
    fault(pair(), memory, step)
