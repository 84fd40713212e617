"""Scripted agents and the real daemon: turns, from registration to release, and through faults."""

import os
import signal
from collections.abc import Callable

import pytest
from coordinator_process import OTHER_USER, RELEARNING, STALLED_S, STALLING, CoordinatorProcess
from scripted_agents import Agent, has_turn, heard, live_for, run_until

Start = Callable[..., CoordinatorProcess]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="sockets of other users need root")


def holder_and_waiter(of: CoordinatorProcess) -> tuple[Agent, Agent]:
    """A has the turn, B waits for it."""
    a, b = Agent(of, "A"), Agent(of, "B")
    run_until([a, b], lambda: heard(a, "registered")() and heard(b, "registered")(), "both are registered")
    a.begin()
    run_until([a, b], has_turn(a), "A has the turn")
    b.begin()
    run_until([a, b], heard(b, "wait"), "B is told to wait")
    return a, b


def test_turns_pass_from_registration_to_release(start: Start) -> None:
    a, b = holder_and_waiter(start())
    assert b.of_type("wait")[0]["holders"] == ["A"]
    assert not b.has_turn
    a.release()
    run_until([a, b], has_turn(b), "B has the turn")
    assert b.fence > a.fence
    b.release()
    a.begin()
    run_until([a, b], has_turn(a), "A has the turn again")
    assert a.of.top().load.moving == 1


def test_a_holder_is_asked_to_stop_for_the_newest(start: Start) -> None:
    of = start(policy="interrupt")
    a, b = Agent(of, "A"), Agent(of, "B")
    a.begin()
    run_until([a, b], has_turn(a), "A has the turn")
    b.begin()
    run_until([a, b], has_turn(b), "B has the turn")
    assert [one["type"] for one in a.heard if one["type"] in ("recall", "stop")] == ["recall", "stop"]
    assert a.of_type("stop")[0]["round"] == 2


def test_a_restarted_daemon_relearns_who_moves(start: Start) -> None:
    of = start()
    a, b = holder_and_waiter(of)
    before = a.lease
    epoch = a.of_type("registered")[0]["epoch"]
    of.kill()
    of.configure(times=RELEARNING)
    of.start()
    b.come_back()
    a.come_back()
    run_until([a, b], heard(a, "grant"), "A goes on")
    assert a.lease == before
    assert a.of_type("registered")[0]["epoch"] > epoch
    run_until([a, b], heard(a, "grant", 3), "A's lease is renewed")
    assert not b.of_type("grant"), "two have the turn"
    a.release()
    run_until([a, b], has_turn(b), "B has the turn")


def test_nobody_loses_a_turn_while_the_daemon_is_stopped(start: Start) -> None:
    of = start(times=STALLING)
    a, b = holder_and_waiter(of)
    of.signal(signal.SIGSTOP)
    live_for([a, b], 3 * STALLED_S)
    of.signal(signal.SIGCONT)
    renewed = len(a.of_type("grant"))
    run_until([a, b], heard(a, "grant", renewed + 3), "A's lease is renewed")
    assert not a.of_type("voided")
    assert not b.of_type("grant")
    assert [a.closed, b.closed] == [False, False]
    assert of.count("own_pauses") >= 1
    assert of.count("silent_agents") == of.count("stalled_holders") == 0


def test_the_next_one_goes_on_when_the_holder_dies(start: Start) -> None:
    of = start()
    a, b = holder_and_waiter(of)
    a.connection.close()
    run_until([b], has_turn(b), "B has the turn")
    assert of.count("lost_holders") == 1
    assert of.count("silent_agents") == 0  # its connection broke


def test_a_holder_that_moves_nothing_loses_the_turn(start: Start) -> None:
    of = start(times=STALLING)
    a, b = holder_and_waiter(of)
    a.moves = False  # but lives
    run_until([a, b], has_turn(b), "B has the turn")
    run_until([a, b], heard(a, "voided"), "A is told")
    assert not a.closed
    assert of.count("stalled_holders") >= 1  # B is on probation: two heartbeats without a byte end its turn


def test_a_holder_that_says_nothing_loses_the_turn(start: Start) -> None:
    of = start(times=STALLING)
    a, b = holder_and_waiter(of)
    run_until([b], has_turn(b), "B has the turn")
    assert of.count("silent_agents") == 1
    assert not a.closed  # of its own accord


@needs_root
def test_a_client_that_claims_a_job_of_others_is_refused(start: Start) -> None:
    of = start()
    a, b = holder_and_waiter(of)
    thief = Agent(of, "A", user=OTHER_USER, secret=a.secret)
    guesser = Agent(of, "A", secret="a guess that is long enough")
    run_until([a, b, thief, guesser], lambda: thief.closed and guesser.closed, "both are refused")
    assert "another user" in thief.of_type("refused")[0]["reason"]
    assert "another secret" in guesser.of_type("refused")[0]["reason"]
    assert of.count("refused_claims") == 2
    run_until([a, b], heard(a, "grant", len(a.of_type("grant")) + 2), "A's lease is renewed")
