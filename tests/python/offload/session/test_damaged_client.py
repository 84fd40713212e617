"""A client whose words of the segment were overwritten, class by class, while a server holds blocks of it: whatever
becomes of that client's data, nobody waits for ever, nobody crashes, and the other client loses nothing."""

import os
import signal
import subprocess

import pytest
from layout import Layout
from running import Case, expected_block, finish, is_gone, wait_for
from segment import Word, damage, words

ITERATIONS, STORED = 12, 2
DAMAGED, OTHER = 0, 1
LIMIT_S = 20
"""Far less than the time after which a silent server is replaced."""

VALUES = {"ones": 2**64 - 1, "odd": 7 << 32 | 7}


def blocked_run(case: Case) -> tuple["subprocess.Popen[str]", int]:
    """Both ranks wait for room, and the server stands still before it has seen what they handed over."""
    case.configure(nz="32", size="440 KiB")
    run = case.start(f"iterations={ITERATIONS}", "final_wait=1", case.gates(STORED))
    case.wait_at_gate(STORED)
    server = case.server_process()
    os.kill(server, signal.SIGSTOP)
    case.open_gate(STORED)
    wait_for(lambda: words(server, Word.WAITING, case.ranks) == [1] * case.ranks, what="the ranks wait for room")
    return run, server


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("what", Layout.classes())
def test_a_client_with_damaged_words_delays_nobody(openmpi_case: Case, what: str, value: str) -> None:
    case = openmpi_case
    run, server = blocked_run(case)
    try:
        for offset in Layout.of(server).offsets(what, DAMAGED):
            damage(server, offset, VALUES[value])
    finally:
        os.kill(server, signal.SIGCONT)
    outcome = finish(run, LIMIT_S)
    assert set(outcome.ranks) == {DAMAGED, OTHER}, outcome.text
    wait_for(lambda: is_gone(server), what="the server exits")
    assert "took over" not in (case.output / "server-n0000.log").read_text()
    blocks = case.blocks()
    for iteration in range(ITERATIONS):
        block = blocks["theta", iteration, OTHER]
        assert (block == expected_block("theta", iteration, OTHER, block.shape)).all()
