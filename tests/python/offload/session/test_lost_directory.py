"""The output directory is deleted, moved or covered while a run writes into it."""

import shutil
from pathlib import Path

import pytest
from running import Case, check_complete, expected_block, finish, is_gone, stop_server, wait_for


def stored(case: Case) -> list[Path]:
    return sorted(case.output.glob("tiny.[nc]*.i*.h5"))


def delete(directory: Path) -> None:
    # The server may be writing into it; without its files it is no directory of the run any more.
    wait_for(lambda: shutil.rmtree(directory, ignore_errors=True) or not directory.exists(), what="deleted")


def move_away(directory: Path) -> None:
    directory.rename(directory.with_name("moved"))


def exchange(directory: Path) -> None:
    """As when the file system goes, and what was under it is seen again."""
    directory.rename(directory.with_name("moved"))
    directory.mkdir(exist_ok=True)


@pytest.mark.parametrize("lose", [delete, move_away, exchange])
@pytest.mark.parametrize("top", ["", "inline: true"])
def test_a_lost_output_directory_is_made_anew_and_the_loss_is_said(openmpi_case: Case, lose: object, top: str) -> None:
    assert callable(lose)
    writer = "c00000" if top else "n0000"
    openmpi_case.configure(top=top)
    run = openmpi_case.start("iterations=20", openmpi_case.gates(5))
    for client in range(2 if top else 1):
        openmpi_case.wait_at_gate(5, f"c{client:05}" if top else writer)
    lose(openmpi_case.output)
    openmpi_case.open_gate(5)
    outcome = finish(run)
    assert "was deleted, moved or unmounted while the run went on" in outcome.text
    assert not outcome.ranks[0]["closed"]
    counts = openmpi_case.counts(writer)
    assert counts["finished"]
    assert counts["lost_files"] >= 2
    assert counts["lost_records"] > 0
    assert any("was deleted, moved or unmounted" in m for m in counts["messages"])
    if not top:
        log = (openmpi_case.output / f"server-{writer}.log").read_text()
        assert "was deleted, moved or unmounted" in log
        assert log.rstrip().endswith("done")
    blocks = openmpi_case.blocks()
    for rank in range(2):
        block = blocks["theta", 19, rank]
        assert (block == expected_block("theta", 19, rank, block.shape)).all()


def test_a_directory_that_is_lost_after_the_last_file_is_said_at_close(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=4", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    delete(openmpi_case.output)
    openmpi_case.open_gate(4)
    outcome = finish(run)
    assert "was deleted, moved or unmounted while the run went on" in outcome.text


def test_a_wait_after_the_loss_says_it(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=20", "wait=stored", openmpi_case.gates(3))
    openmpi_case.wait_at_gate(3)
    delete(openmpi_case.output)
    openmpi_case.open_gate(3)
    outcome = finish(run)
    assert "was deleted, moved or unmounted" in outcome.ranks[0]["error"]


def test_a_log_that_is_lost_for_good_is_said_in_the_counts(openmpi_case: Case) -> None:
    logs = openmpi_case.directory / "logs"
    openmpi_case.configure(server=f"log-directory: {logs}")
    run = openmpi_case.start("iterations=8", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    server = int((logs / "server-n0000.log").read_text().rsplit(", process ", 1)[1].split(",")[0])
    shutil.rmtree(logs)
    logs.touch()
    stop_server(server)  # the next one has something to say
    openmpi_case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    took_over, told = openmpi_case.counts()["messages"][:2]
    assert took_over == "took over as server 2 of this session"
    assert told.startswith("the log cannot be written: halcyon.yaml:")
    assert f": resources.server.log-directory: log directory {logs} cannot be made: Not a directory" in told
    assert sum("the log cannot be written" in m for m in openmpi_case.counts()["messages"]) == 1


def test_records_that_are_deleted_alone_are_begun_anew_and_counted(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=60", openmpi_case.gates(10))
    openmpi_case.wait_at_gate(10)
    server = openmpi_case.server_process()
    for name in ("phases-n0000.csv", "server-n0000.csv"):
        (openmpi_case.output / name).unlink()
    openmpi_case.open_gate(10)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    wait_for(lambda: is_gone(server), what="the server exits")
    check_complete(openmpi_case, 60)
    tables = [(openmpi_case.output / f"{name}-n0000.csv").read_text().splitlines() for name in ("phases", "server")]
    assert tables[0][0].startswith("iteration,rank,")
    assert tables[1][0].startswith("first_iteration,")
    lost = openmpi_case.counts()["lost_records"]
    assert lost > 0
    # One of each rank and iteration, and one of each file.
    assert sum(len(table) - 1 for table in tables) + lost == 2 * 60 + 60


def test_counts_that_cannot_be_saved_are_said_once(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=60", openmpi_case.gates(3, 60))
    openmpi_case.wait_at_gate(3)
    in_the_way = openmpi_case.output / ".counts-n0000.json.room"
    wait_for(lambda: make_folder(in_the_way), what="a folder is where the counts go")
    openmpi_case.open_gate(3)
    openmpi_case.wait_at_gate(60)
    in_the_way.rmdir()
    openmpi_case.open_gate(60)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    log = (openmpi_case.output / "server-n0000.log").read_text()
    assert log.count("counts cannot be saved") == 1
    assert log.count("counts are saved again") == 1
    counts = openmpi_case.counts()
    assert counts["finished"]
    assert counts["iterations"] == 60
    assert any("counts cannot be saved" in m for m in counts["messages"])


def test_counts_that_cannot_be_saved_at_the_end_are_said_by_close(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=6", openmpi_case.gates(3))
    openmpi_case.wait_at_gate(3)
    in_the_way = openmpi_case.output / ".counts-n0000.json.room"
    wait_for(lambda: make_folder(in_the_way), what="a folder is where the counts go")
    openmpi_case.open_gate(3)
    outcome = finish(run)
    assert "all files are written, but not the counts that say what is missing in them: " in outcome.text
    assert not outcome.ranks[0]["closed"]
    check_complete_files(openmpi_case, 6)


def check_complete_files(case: Case, iterations: int) -> None:
    blocks = case.blocks()
    for iteration in range(iterations):
        for rank in range(2):
            block = blocks["theta", iteration, rank]
            assert (block == expected_block("theta", iteration, rank, block.shape)).all()


def make_folder(path: Path) -> bool:
    """False when the server has made its temporary file of that name again."""
    path.unlink(missing_ok=True)
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True


def test_another_run_in_the_place_of_a_moved_one_is_left_alone(openmpi_case: Case) -> None:
    openmpi_case.configure(server="retry: 100 ms")
    assert openmpi_case.run("iterations=3").status == 0
    other = openmpi_case.output.with_name("other")
    openmpi_case.output.rename(other)
    before = {f.name: f.read_bytes() for f in other.iterdir()}

    run = openmpi_case.start("iterations=60", "pause_ms=20")
    wait_for(lambda: len(stored(openmpi_case)) > 4, what="files")
    moved = iter(range(1000))

    def exchanged() -> bool:
        """False when the server was quicker and has made a new directory."""
        openmpi_case.output.rename(openmpi_case.output.with_name(f"moved{next(moved)}"))
        try:
            other.rename(openmpi_case.output)
        except OSError:
            return False
        return True

    wait_for(exchanged, what="the other run is in its place")
    outcome = finish(run)
    assert "belongs to another run now" in outcome.text
    assert not outcome.ranks[0]["closed"]
    assert {f.name: f.read_bytes() for f in openmpi_case.output.iterdir()} == before
