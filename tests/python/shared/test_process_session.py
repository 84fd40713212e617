"""Interrupts of work that leaves nothing running: the signals go to this very process."""

import os
import signal
from collections.abc import Sequence

import pytest

from halcyon.process_session import ended_in_order


def interrupted(first: signal.Signals, while_cleaning_up: Sequence[signal.Signals]) -> bool:
    """Whether it was cleaned up nevertheless."""
    cleaned_up = False

    def work() -> None:
        nonlocal cleaned_up
        with ended_in_order():
            try:
                os.kill(os.getpid(), first)
            finally:
                for more in while_cleaning_up:
                    os.kill(os.getpid(), more)
                cleaned_up = True

    with pytest.raises(KeyboardInterrupt):
        work()
    return cleaned_up


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_end_of_a_job_does_not_interrupt_what_is_cleaned_up(first: signal.Signals) -> None:
    assert interrupted(first, [signal.SIGTERM, signal.SIGHUP])


def test_who_presses_ctrl_c_meanwhile_does_not_wait_for_it() -> None:
    assert not interrupted(signal.SIGTERM, [signal.SIGINT])


def test_handlers_of_before_are_back_behind_it() -> None:
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(one) for one in signals]
    with ended_in_order():
        assert all(signal.getsignal(one) not in before for one in signals)
    assert [signal.getsignal(one) for one in signals] == before


def test_a_handler_of_a_library_steps_aside() -> None:
    def handler(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    try:
        assert interrupted(signal.SIGINT, [signal.SIGTERM])
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_who_ignores_the_terminal_goes_on_to() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ended_in_order():
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
