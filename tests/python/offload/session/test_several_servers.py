"""Several servers on one machine: each has its own clients, shared memory and files."""

import pytest
from running import Case, check_complete, finish, is_gone, stop_server, wait_for

TWO = "  servers-per-node: 2"


def test_the_ranks_of_a_machine_are_divided_among_its_servers(openmpi_case: Case) -> None:
    openmpi_case.ranks = 5
    openmpi_case.configure(resources=TWO)
    outcome = openmpi_case.run("iterations=6")
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 6)
    clients = []
    for node in ("n0000", "n0001"):
        assert len(list(openmpi_case.output.glob(f"tiny.{node}.*.h5"))) == 6
        assert openmpi_case.counts(node)["finished"]
        clients.append((openmpi_case.output / f"server-{node}.log").read_text().split(" client(s)")[0].split()[-1])
    assert clients == ["3", "2"]


def test_more_servers_than_ranks_are_as_many_as_ranks(openmpi_case: Case) -> None:
    openmpi_case.configure(resources="  servers-per-node: 7")
    outcome = openmpi_case.run("iterations=3")
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 3)
    assert sorted(p.name for p in openmpi_case.output.glob("server-n*.log")) == ["server-n0000.log", "server-n0001.log"]


def test_one_of_two_servers_killed_is_replaced_and_the_other_goes_on(openmpi_case: Case) -> None:
    openmpi_case.configure(resources=TWO)
    run = openmpi_case.start("iterations=30", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4, "n0001")
    other = openmpi_case.server_process("n0000")
    stop_server(openmpi_case.server_process("n0001"))
    openmpi_case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 30)
    assert openmpi_case.counts("n0001")["server_restarts"] == 1
    assert openmpi_case.counts("n0000")["server_restarts"] == 0
    assert openmpi_case.server_process("n0000") == other
    wait_for(lambda: is_gone(other), what="the servers exit")


def test_the_buffer_is_that_of_the_machine(openmpi_case: Case) -> None:
    openmpi_case.configure(resources=TWO, nz="64", size="150 KiB")
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    told = outcome.ranks[0]["open"]
    assert "153600 bytes (150 KiB) for 2 servers with 1 clients" in told
    wanted = int(told.rsplit("set at least ", 1)[1].split()[0])
    openmpi_case.configure(resources=TWO, nz="64", size=f"{wanted} B")
    assert openmpi_case.run("iterations=4").status == 0
    check_complete(openmpi_case, 4)


def test_a_server_world_has_one_server_a_node(openmpi_case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    openmpi_case.configure(resources=TWO)
    monkeypatch.setenv("HALCYON_SESSION", "0" * 32)
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "resources.servers-per-node: 2: a server world" in outcome.ranks[0]["open"]
