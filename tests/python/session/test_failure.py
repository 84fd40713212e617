"""Processes that die: the simulation goes on, and nothing that was accepted is lost."""

import os
import signal
from pathlib import Path

import h5py
import pytest
from running import Case, check_complete, finish, is_gone, stop_server, wait_for
from watching import IN_CREATE, IN_MOVED_TO, Watch

from halcyon.diff import diff


def test_a_killed_server_is_replaced_and_nothing_is_lost(case: Case) -> None:
    case.configure()
    run = case.start("iterations=30", "pause_ms=20")
    wait_for(lambda: (case.output / "tiny.n0000.i00000003.h5").exists(), what="a few iterations are stored")
    stop_server(case.server_process())
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 30)
    assert case.counts()["server_restarts"] == 1
    assert outcome.ranks[0]["restarts"] == 1


@pytest.fixture(scope="module")
def inline_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run without a server: what the others must equal."""
    case = Case(tmp_path_factory.mktemp("inline"))
    case.configure(nz="32", top="inline: true")
    outcome = case.run("iterations=25")
    assert outcome.status == 0, outcome.text
    return case.output


@pytest.mark.parametrize("moment", range(20))
def test_a_server_killed_at_any_moment_loses_nothing(openmpi_case: Case, inline_run: Path, moment: int) -> None:
    """Twenty moments over the life of a run whose iterations overlap with their storing."""
    openmpi_case.configure(nz="32")
    run = openmpi_case.start("iterations=25", "pause_ms=5")
    stored = openmpi_case.output
    wait_for(lambda: len(list(stored.glob("tiny.n0000.*"))) > moment, what=f"{moment} files")
    stop_server(openmpi_case.server_process())
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 25)
    assert diff(openmpi_case.output, inline_run) == []
    assert not list(stored.glob("*.tmp")), "half a file was left"


@pytest.mark.parametrize("number", [0, 4, 9])
@pytest.mark.parametrize("moment", ["while a file is written", "between rename and release"])
def test_a_server_killed_around_its_storing_loses_nothing(openmpi_case: Case, moment: str, number: int) -> None:
    openmpi_case.configure(nz="32")
    openmpi_case.output.mkdir()
    watch = Watch(openmpi_case.output)
    run = openmpi_case.start("iterations=20", "pause_ms=5")
    file = f"tiny.n0000.i{number:08d}.h5"
    if moment == "while a file is written":
        watch.wait(lambda mask, name: bool(mask & IN_CREATE) and name == file + ".tmp")
    else:
        watch.wait(lambda mask, name: bool(mask & IN_MOVED_TO) and name == file)
    stop_server(openmpi_case.server_process())
    watch.close()
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 20)
    assert not list(openmpi_case.output.glob("*.tmp")), "half a file was left"


def test_three_servers_killed_one_after_the_other_lose_nothing(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=80", "pause_ms=20")
    for kills in range(1, 4):
        seen = len(list(openmpi_case.output.glob("tiny.n0000.*.h5")))
        wait_for(lambda n=seen: len(list(openmpi_case.output.glob("tiny.n0000.*.h5"))) > n + 2, what="more files")
        stop_server(openmpi_case.server_process())
        wait_for(
            lambda k=kills: (openmpi_case.output / "server-n0000.log").read_text().count("took over") == k,
            what="the next server",
        )
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 80)
    assert openmpi_case.counts()["server_restarts"] == 3


def test_when_no_server_can_be_had_the_clients_store_by_themselves(case: Case) -> None:
    case.configure(server="max-restarts: 0")
    run = case.start("iterations=30", "pause_ms=20")
    wait_for(lambda: (case.output / "tiny.n0000.i00000003.h5").exists(), what="a few iterations are stored")
    stop_server(case.server_process())
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 30)
    assert list(case.output.glob("tiny.c*.h5")), "the clients stored nothing themselves"


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("how", ["kill", "abort"])
def test_a_client_that_dies_leaves_complete_iterations_whole(case: Case, rank: int, how: str) -> None:
    case.configure()
    outcome = case.run(
        "iterations=30", "pause_ms=5", "together=1", f"die_rank={rank}", "die_at=7", f"die={how}", limit_s=30
    )
    assert outcome.status != 0, "the job must notice"
    wait_for(lambda: (case.output / "counts-n0000.json").exists(), what="counts")
    wait_for(lambda: case.counts()["finished"], what="the server drains")
    wait_for(lambda: is_gone(case.server_process()), what="the server exits")
    check_complete(case, 7)
    # What the dead one had handed over of its last iteration is stored, too.
    assert ("theta", 7, rank) in case.blocks()
    with h5py.File(case.output / "tiny.n0000.i00000007.h5") as f:
        assert int(f.attrs["incomplete"]) == 1


def test_a_client_that_exits_without_close_counts_as_dead(openmpi_case: Case) -> None:
    openmpi_case.configure()
    openmpi_case.run("iterations=30", "pause_ms=5", "together=1", "die_rank=1", "die_at=3", "die=exit", limit_s=30)
    wait_for(lambda: openmpi_case.counts()["finished"], what="the server drains")
    assert openmpi_case.counts()["dead_clients"] >= 1
    check_complete(openmpi_case, 3)


def test_a_stopped_server_is_waited_for_and_loses_nothing(openmpi_case: Case) -> None:
    openmpi_case.configure(size="400 KiB")
    run = openmpi_case.start("iterations=20", "pause_ms=5")
    wait_for(lambda: (openmpi_case.output / "tiny.n0000.i00000002.h5").exists(), what="a few iterations are stored")
    pid = openmpi_case.server_process()
    os.kill(pid, signal.SIGSTOP)
    # The clients fill what room there is; then let the server go on.
    wait_for(lambda: "T" in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1], what="the server stops")
    os.kill(pid, signal.SIGCONT)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 20)


@pytest.mark.parametrize("how", ["kill", "abort"])
def test_the_launcher_does_not_wait_for_the_server(case: Case, how: str) -> None:
    """The job's launcher ends although the server stands still and so cannot have ended."""
    case.configure()
    run = case.start("iterations=200", "pause_ms=10", "together=1", "die_rank=1", "die_at=60", f"die={how}")
    wait_for(lambda: (case.output / "tiny.n0000.i00000003.h5").exists(), what="a few iterations are stored")
    pid = case.server_process()
    os.kill(pid, signal.SIGSTOP)
    try:
        assert finish(run, 30).status != 0
        assert not is_gone(pid)
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for(lambda: case.counts()["finished"], what="the server drains")
    wait_for(lambda: is_gone(pid), what="the server exits")
    check_complete(case, 60)
