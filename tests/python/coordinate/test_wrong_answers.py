"""Whatever answers in place of a coordinator, I/O goes on, and the summary says why."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import impatient_agent, said_by, write
from coordinator_process import CoordinatorProcess
from wrong_coordinator import Answer, HangUpError, answers_at, line

from halcyon.coordinate.connection import Message

Prepare = Callable[..., CoordinatorProcess]

pytestmark = pytest.mark.usefixtures("library")

PATIENCE_MS = 500
LIMIT_MS = "1000"
"""Of a wait for a turn, where somebody answers."""
REGISTERED = line("registered", application=1, heartbeat_s=0.05, lease_s=0.2, epoch=7)


def hang_up(asked: Message) -> bytes:
    raise HangUpError


NO_COORDINATOR: dict[str, Answer] = {
    "nothing": lambda asked: b"",
    "hangs-up": hang_up,
    "another-service": lambda asked: b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
    "garbage": lambda asked: b"\xff\x00{[\n",
    "a-line-without-end": lambda asked: b"x" * (1 << 20),
    "unknown-messages": lambda asked: line("turn"),
    "heartbeats": lambda asked: line("heartbeat"),
    "errors": lambda asked: line("error", reason="this message is not understood"),
    "waits": lambda asked: line("wait", phase=1, expected_s=1),
}


@pytest.mark.parametrize("answer", NO_COORDINATOR.values(), ids=NO_COORDINATOR)
def test_who_does_not_register_the_job_is_no_coordinator(prepare: Prepare, tmp_path: Path, answer: Answer) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = prepare(paths=[str(folder)])  # it does not run
    with answers_at(of.socket, answer):
        said = said_by(write(of, folder, variables=os.environ | impatient_agent(tmp_path, PATIENCE_MS)))
    assert "8.39 MB moved out of turn: no coordinator answered" in said
    assert (folder / "file").stat().st_size == 8 << 20


def registers_and(then: Answer) -> Answer:
    return lambda asked: REGISTERED if asked["type"] == "register" else then(asked)


def to_phases(*kinds: str, **fields: object) -> Answer:
    """To `inform`; else heartbeats, so that it is not silent."""
    return lambda asked: (
        b"".join(line(kind, **fields) for kind in kinds) if asked["type"] == "inform" else line("heartbeat")
    )


NO_TURNS: dict[str, Answer] = {
    "heartbeats": to_phases("heartbeat"),
    "errors": to_phases("error", reason="this message is not understood"),
    "waits-for-ever": to_phases("wait", phase=1, expected_s=1e9, holders=["nobody"]),
    "a-turn-of-another-phase": to_phases("grant", phase=99, lease=1, bytes=1 << 30, fence=8 << 32),
    "a-turn-without-bytes": to_phases("grant", phase=1, lease=1, bytes=0, fence=8 << 32),
    "a-stop-of-a-turn-that-nobody-has": to_phases("recall", "stop", lease=1, round=1),
}


@pytest.mark.parametrize("answer", NO_TURNS.values(), ids=NO_TURNS)
def test_who_gives_no_turns_is_not_waited_for_longer_than_the_limit(
    prepare: Prepare, tmp_path: Path, answer: Answer
) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = prepare(paths=[str(folder)])
    limit = os.environ | {"HALCYON_COORDINATE_STARVATION_MS": LIMIT_MS}
    with answers_at(of.socket, registers_and(answer)):
        said = said_by(write(of, folder, variables=limit))
    assert "8.39 MB moved out of turn: 8 calls had waited for as long as any call may" in said
    assert (folder / "file").stat().st_size == 8 << 20
