"""A server that does not come up: the session is refused, and the message says what became of the server."""

import os
from pathlib import Path

import pytest
from running import Case


@pytest.mark.parametrize(
    ("last_act", "said"),
    [
        ("exit 127", "cannot be loaded: `ldd` of it names the library that is missing"),
        ("exit 3", "ended with exit code 3 before it listened"),
        ("kill -9 $$", "was ended by signal 9 before it listened"),
    ],
)
def test_a_server_that_ends_before_it_listens_is_told(
    openmpi_case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_act: str, said: str
) -> None:
    server = tmp_path / "server"
    server.write_text(f"#!/bin/sh\n{last_act}\n")
    server.chmod(0o755)
    monkeypatch.setitem(os.environ, "HALCYON_SERVER", str(server))
    openmpi_case.configure()
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    # The rank that tried, once: what the ranks of a node agree on is not named there.
    assert f"{server} {said} (rank 0 on " in outcome.ranks[0]["open"]
    assert outcome.ranks[0]["open"].count("(rank ") == 1
