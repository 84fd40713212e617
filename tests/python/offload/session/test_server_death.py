"""Servers that die: the simulation goes on, and nothing that was accepted is lost."""

import sys
from pathlib import Path

import h5py
import pytest
from running import BUILDS, Case, check_complete, finish, is_gone, stop_server, stopped_server, wait_for
from segment import Word, words
from stored import check_nothing_is_half_done
from watching import IN_CREATE, IN_MOVED_TO, Watch

from halcyon.offload.diff import diff


def test_a_killed_server_is_replaced_and_nothing_is_lost(case: Case) -> None:
    case.configure()
    run = case.start("iterations=30", "final_wait=1", case.gates(4))
    case.wait_at_gate(4)
    stop_server(case.server_process())
    case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 30)
    counts = case.counts()
    assert counts["server_restarts"] == 1
    assert outcome.ranks[0]["restarts"] == 1
    phases = (case.output / "phases-n0000.csv").read_text().splitlines()[1:]
    assert len(phases) + counts["lost_records"] == case.ranks * 30, "a line is neither there nor counted"


def test_the_next_server_is_started_as_the_environment_was_at_open(openmpi_case: Case) -> None:
    """Which the simulation may change while another thread starts it."""
    openmpi_case.configure()
    run = openmpi_case.start("iterations=10", "final_wait=1", "later_server=/bin/false", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    stop_server(openmpi_case.server_process())
    openmpi_case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert openmpi_case.counts()["server_restarts"] == 1
    assert not list(openmpi_case.output.glob("counts-c*.json")), "a client had to store by itself"


@pytest.mark.parametrize("moment", range(20))
def test_a_server_killed_at_any_moment_loses_nothing(openmpi_case: Case, inline_run: Path, moment: int) -> None:
    """Twenty moments over the life of a run whose iterations overlap with their storing."""
    openmpi_case.configure(nz="32")
    run = openmpi_case.start("iterations=25", "pause_ms=5", openmpi_case.gates(25))
    stored = openmpi_case.output
    wait_for(lambda: len(list(stored.glob("tiny.n0000.*"))) > moment, what=f"{moment} files")
    stop_server(openmpi_case.server_process())
    openmpi_case.open_gate(25)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 25)
    assert diff(openmpi_case.output, inline_run) == []
    assert not list(stored.glob("*.tmp")), "half a file was left"


@pytest.mark.parametrize("number", [0, 4, 9])
@pytest.mark.parametrize("moment", ["while a file is written", "between rename and release"])
def test_a_server_killed_around_its_storing_loses_nothing(store_case: Case, moment: str, number: int) -> None:
    store_case.configure(nz="32")
    store_case.output.mkdir()
    watch = Watch(store_case.output)
    run = store_case.start("iterations=20", "pause_ms=5", store_case.gates(20))
    file = store_case.data_file(number).name
    if moment == "while a file is written":
        watch.wait(lambda mask, name: bool(mask & IN_CREATE) and name == file + ".tmp")
    else:
        watch.wait(lambda mask, name: bool(mask & IN_MOVED_TO) and name == file)
    stop_server(store_case.server_process())
    store_case.open_gate(20)
    watch.close()
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(store_case, 20)
    assert not list(store_case.output.glob("*.tmp")), "half a file was left"


def test_three_servers_killed_one_after_the_other_lose_nothing(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=40", openmpi_case.gates(5, 10, 15))
    for kills in range(1, 4):
        openmpi_case.wait_at_gate(5 * kills)
        stop_server(openmpi_case.server_process())
        openmpi_case.open_gate(5 * kills)
        wait_for(
            lambda k=kills: (openmpi_case.output / "server-n0000.log").read_text().count("took over") == k,
            what="the next server",
        )
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 40)
    assert openmpi_case.counts()["server_restarts"] == 3


def test_when_no_server_can_be_had_the_clients_store_by_themselves(case: Case) -> None:
    case.configure(server="max-restarts: 0")
    run = case.start("iterations=30", case.gates(4))
    case.wait_at_gate(4)
    stop_server(case.server_process())
    case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 30)
    assert list(case.output.glob("tiny.c*.h5")), "the clients stored nothing themselves"


def test_a_stopped_server_is_waited_for_and_loses_nothing(openmpi_case: Case) -> None:
    openmpi_case.configure(nz="32", size="440 KiB")
    run = openmpi_case.start("iterations=40", openmpi_case.gates(3))
    openmpi_case.wait_at_gate(3)
    with stopped_server(openmpi_case) as server:
        openmpi_case.open_gate(3)
        wait_for(lambda: all(words(server, Word.WAITING, 2)), what="the clients have filled what room there is")
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 40)


HANGS_UP_ONCE = """\
#!{python}
# The first time: listens, says so, and hangs up on whoever comes. Then: the real server.
import os, socket, sys
if os.path.exists("{mark}"):
    os.execv("{server}", ["{server}", *sys.argv[1:]])
open("{mark}", "w").close()
listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listening.bind("\\0halcyon-" + sys.argv[2] + "-" + sys.argv[4])
listening.listen()
if os.fork():
    os._exit(0)
os.write(3, b"1")
os.close(3)
listening.accept()[0].recv(1)
"""


def test_a_server_that_dies_in_open_is_replaced(openmpi_case: Case, tmp_path: Path) -> None:
    mark, server = tmp_path / "mark", BUILDS["openmpi"] / "bin/halcyon-server"
    openmpi_case.start_servers_by(HANGS_UP_ONCE.format(python=sys.executable, mark=mark, server=server))
    openmpi_case.configure()
    outcome = openmpi_case.run("iterations=5")
    assert mark.exists()
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 5)


def test_a_server_killed_before_the_last_view_leaves_it_to_a_client(openmpi_case: Case) -> None:
    """All was drained by then: what is left to do is the view, and to end its maker's records."""
    openmpi_case.preload_into_servers("killed_at_rename", KILLED_ONTO="/tiny.h5", KILLED_AT="2")
    openmpi_case.configure(server="max-restarts: 0", store=", view-interval: 60 min")
    run = openmpi_case.start("iterations=20", openmpi_case.gates(5))
    first_view = openmpi_case.output / "tiny.h5"
    wait_for(first_view.exists, what="the first view")
    server = openmpi_case.server_process()
    openmpi_case.open_gate(5)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert is_gone(server)
    assert not openmpi_case.counts()["messages"], "clients settle nothing: the server had"
    check_complete(openmpi_case, 20)
    with h5py.File(first_view) as view:
        assert view["theta"].shape[0] == 20
    check_nothing_is_half_done(openmpi_case)
    assert openmpi_case.counts("c00000")["finished"]
