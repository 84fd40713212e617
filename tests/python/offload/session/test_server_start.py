"""Servers that do not come up: one that is killed is followed by another, and a refusal says what became of it."""

import random

import pytest
from first_servers import ITERATIONS, MOST_KILLED, NZ, Opening, steps_of_an_opening
from running import BUILDS, Case
from stored import check_whole_counts, check_whole_values

PARTS = 8


@pytest.mark.parametrize(
    ("last_act", "said"),
    [
        ("exit 127", "cannot be loaded: `ldd` of it names the library that is missing"),
        ("exit 3", "ended with exit code 3 before it listened"),
        ("kill -9 $$", "was ended by signal 9 before it listened"),
    ],
)
def test_a_server_that_ends_before_it_listens_is_told(openmpi_case: Case, last_act: str, said: str) -> None:
    server = openmpi_case.start_servers_by(f"#!/bin/sh\n{last_act}\n")
    openmpi_case.configure()
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    # The rank that tried, once: what the ranks of a node agree on is not named there.
    assert f"{server} {said} (rank 0 on " in outcome.ranks[0]["open"]
    assert outcome.ranks[0]["open"].count("(rank ") == 1


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> int:
    return steps_of_an_opening(Case(tmp_path_factory.mktemp("steps")))


@pytest.mark.parametrize("part", range(PARTS))
def test_servers_killed_while_the_session_opens_are_followed_by_others(
    openmpi_case: Case, steps: int, part: int
) -> None:
    """One step out of each of as many equal parts of the opening."""
    step = random.Random(part).randrange(part * steps // PARTS, (part + 1) * steps // PARTS) + 1
    opening = Opening(step, MOST_KILLED)
    outcome = opening.play(openmpi_case)
    assert outcome.status == 0, outcome.text
    assert opening.was_reached(openmpi_case) or part == PARTS - 1, "the last calls are not made in every run"
    check_whole_values(openmpi_case, ITERATIONS, NZ)
    check_whole_counts(openmpi_case, ITERATIONS)


def test_an_open_gives_up_after_four_servers(openmpi_case: Case) -> None:
    outcome = (dies := Opening(1, MOST_KILLED + 1)).play(openmpi_case)
    assert outcome.status != 0
    assert "was ended by signal 9 before it listened" in outcome.ranks[0]["open"]
    assert dies.starts(openmpi_case) == MOST_KILLED + 1


@pytest.mark.alone
def test_a_first_server_that_is_slow_to_start_is_waited_for(openmpi_case: Case) -> None:
    """The limit is for one that takes over, or stands still: here nobody waits for its work yet."""
    openmpi_case.start_servers_by(f'#!/bin/sh\nsleep 2\nexec {BUILDS[openmpi_case.mpi]}/bin/halcyon-server "$@"\n')
    openmpi_case.configure(server="hang-timeout: 1 s")
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status == 0, outcome.text
