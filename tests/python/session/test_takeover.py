"""A server that takes over is killed, held and slowed down before its system calls: never two at work, nothing lost."""

import random

import pytest
from running import Case, check_complete, finish, stopped_server
from takeover import ITERATIONS, Hit, Takeover, check_counts_after, check_values_after, steps_of_a_takeover

ROUNDS = 12
"""Of each kind."""


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> int:
    return steps_of_a_takeover(Case(tmp_path_factory.mktemp("steps")))


@pytest.mark.parametrize("part", range(ROUNDS))
@pytest.mark.parametrize("mode", ["kill", "hold", "slow"])
def test_a_takeover_stopped_at_a_step_loses_nothing(openmpi_case: Case, steps: int, mode: str, part: int) -> None:
    """One step out of each of as many equal parts of the takeover."""
    step = random.Random(f"{mode}{part}").randrange(part * steps // ROUNDS, (part + 1) * steps // ROUNDS) + 1
    outcome = Takeover((Hit(step, mode),)).play(openmpi_case)
    assert outcome.status == 0, outcome.text
    check_values_after(openmpi_case)
    check_counts_after(openmpi_case, outcome)


def test_a_server_that_stands_still_is_replaced_and_said_to_be(openmpi_case: Case) -> None:
    openmpi_case.configure(server="hang-timeout: 1 s")
    run = openmpi_case.start(f"iterations={ITERATIONS}", "final_wait=1", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    with stopped_server(openmpi_case):
        openmpi_case.open_gate(4)
        outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, ITERATIONS)
    assert "gives no sign of life since" in (openmpi_case.output / "server-n0000.log").read_text()
    assert openmpi_case.counts()["server_restarts"] == 1
