"""What happens when the buffer is full, the disk is full, or the configuration is wrong."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from running import (
    BUILDS,
    Case,
    Outcome,
    check_complete,
    expected_block,
    finish,
    stop_server,
    stopped_server,
    wait_for,
)
from segment import Word, words
from small_disk import small_disk

from halcyon.offload.stored_blocks import contents_of

# Room for little more than one iteration.
TIGHT = {"nz": "32", "size": "500 KiB"}


# What a client's page counts, or says, when its buffer is full.
FULL = {
    "block": Word.WAITING,
    "spill": Word.SPILLED_BLOCKS,
    "inline": Word.INLINED_BLOCKS,
    "skip": Word.SKIPPED_BLOCKS,
}


def all_grew(before: list[int], now: list[int]) -> bool:
    return all(n > b for b, n in zip(before, now, strict=True))


def start_under_pressure(
    case: Case, policy: str, *options: str, gates: tuple[int, ...] = ()
) -> "subprocess.Popen[str]":
    """60 iterations, in the middle of which the server stands still until each client's buffer has got full."""
    case.variables = ("a", "b")
    case.configure(attributes=f", when-full: {policy}", **TIGHT)
    run = case.start("iterations=60", case.gates(10, *gates), *options)
    case.wait_at_gate(10)
    with stopped_server(case) as server:
        before = words(server, FULL[policy], case.ranks)
        case.open_gate(10)
        wait_for(lambda: all_grew(before, words(server, FULL[policy], case.ranks)), what=f"{policy} at each client")
    return run


def run_under_pressure(case: Case, policy: str, *options: str) -> Outcome:
    outcome = finish(start_under_pressure(case, policy, *options))
    assert outcome.status == 0, outcome.text
    return outcome


@pytest.mark.parametrize("policy", ["block", "spill", "inline"])
def test_no_policy_but_skip_loses_a_block(store_case: Case, policy: str) -> None:
    told = run_under_pressure(store_case, policy).ranks[0]
    check_complete(store_case, 60)
    counted = {"block": told["blocked_ns"], "spill": told["spilled"], "inline": told["inlined"]}[policy]
    assert counted > 0, "the buffer was never full: the test shows nothing"


def traced_threads(process: int) -> list[bool]:
    threads = Path(f"/proc/{process}/task").glob("*/status")
    return ["TracerPid:\t0\n" not in thread.read_text() for thread in threads]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace shows what is synced")
def test_durable_holds_for_what_other_ranks_stored_by_themselves(openmpi_case: Case) -> None:
    """Rank 0 alone waits; both ranks found no room and stored blocks in files of their own."""
    run = start_under_pressure(openmpi_case, "inline", "durable_rank=0", gates=(59,))
    openmpi_case.wait_at_gate(59)
    server = openmpi_case.server_process()
    log = openmpi_case.directory / "synced"
    tracer = subprocess.Popen(["strace", "-q", "-f", "-y", "-e", "trace=fsync", "-o", str(log), "-p", str(server)])
    wait_for(lambda: all(traced_threads(server)), what="strace follows each thread of the server")
    openmpi_case.open_gate(59)
    outcome = finish(run)
    tracer.wait(60)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 60)
    stored = {file.name for file in openmpi_case.output.glob("tiny.[nc]0*.i*.h5")}
    assert any(name.startswith("tiny.c00001.") for name in stored), "the test shows nothing"
    told = log.read_text()
    assert [name for name in sorted(stored) if f"/{name}>" not in told] == []


@pytest.mark.parametrize("zero_copy", [0, 1])
def test_skip_drops_blocks_and_says_which(store_case: Case, zero_copy: int) -> None:
    """With zero copy the simulation gets private memory then."""
    outcome = run_under_pressure(store_case, "skip", f"zero_copy={zero_copy}")
    skipped = sum(r["skipped"] for r in outcome.ranks.values())
    assert skipped > 0
    counts = store_case.counts()
    assert counts["skipped_blocks"] == skipped
    assert len(store_case.blocks()) == 2 * 2 * 60 - skipped
    assert counts["missing_blocks"] == skipped


def test_one_client_blocked_while_the_other_waits_for_it_in_mpi_is_no_deadlock(openmpi_case: Case) -> None:
    """Rank 1 ends no iteration before rank 0 wrote all of it, and rank 0's arena is too small for its next one."""
    openmpi_case.variables = ("a", "b", "c")
    openmpi_case.configure(nz="32", size="600 KiB")
    outcome = openmpi_case.run("iterations=30", "lockstep=1")
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 30)


def test_a_server_killed_while_blocks_are_spilled_loses_nothing(store_case: Case) -> None:
    store_case.variables = ("a", "b")
    store_case.configure(attributes=", when-full: spill", **TIGHT)
    run = store_case.start("iterations=60", store_case.gates(6))
    store_case.wait_at_gate(6)
    with stopped_server(store_case) as server:
        before = words(server, Word.SPILLED_BLOCKS, 2)
        store_case.open_gate(6)
        wait_for(lambda: all_grew(before, words(server, Word.SPILLED_BLOCKS, 2)), what="both clients spill")
        stop_server(server)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(store_case, 60)


def test_a_misspelt_layout_ends_the_run_with_the_place_of_the_error(case: Case) -> None:
    case.configure()
    path = case.directory / "halcyon.yaml"
    path.write_text(path.read_text().replace("layout: grid,", "layout: gird,"))
    outcome = case.run("iterations=1")
    assert outcome.status != 0
    message = outcome.ranks[0]["open"]
    assert "halcyon.yaml:11" in message
    assert "data.variables.theta.layout" in message
    assert "grid" in message
    assert not list(case.directory.glob("out/*.h5"))


def test_a_buffer_too_small_for_one_iteration_is_refused_with_the_size_needed(openmpi_case: Case) -> None:
    openmpi_case.configure(nz="256", size="300 KiB")
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    message = outcome.ranks[0]["open"]
    assert "resources.buffer.size" in message
    assert "set at least" in message
    program = BUILDS["openmpi"] / "bin/halcyon-check"
    checked = subprocess.run(
        [program, "halcyon.yaml", "2"], cwd=openmpi_case.directory, capture_output=True, text=True, timeout=60
    )
    assert (checked.returncode, checked.stderr) == (1, f"halcyon: {message}\n"), "said before the job is submitted"
    needed = int(message.rsplit("set at least ", 1)[1].split()[0])
    openmpi_case.configure(nz="256", size=str(needed))
    assert openmpi_case.run("iterations=3").status == 0, "the size it named is not enough"
    check_complete(openmpi_case, 3)


def test_more_shared_memory_than_there_is_fails_at_open(openmpi_case: Case) -> None:
    openmpi_case.configure(size="64 TiB")
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "shared memory" in outcome.ranks[0]["open"]


def test_an_unwritable_directory_fails_at_open(openmpi_case: Case) -> None:
    openmpi_case.configure()
    (openmpi_case.directory / "out").write_text("a file where the directory should be")
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "out" in outcome.ranks[0]["open"]


def test_a_missing_spill_directory_fails_at_open(openmpi_case: Case) -> None:
    openmpi_case.configure(attributes=", when-full: spill", buffer=", spill-directory: /nonexistent")
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "/nonexistent" in outcome.ranks[0]["open"]


@pytest.fixture
def two_mebibytes(tmp_path: Path) -> Iterator[Path]:
    """A file system of that size."""
    with small_disk(tmp_path / "disk", "2m") as where:
        yield where


def test_a_full_disk_is_said_and_the_simulation_goes_on(store_case: Case, two_mebibytes: Path) -> None:
    store_case.configure(nz="64", server="retry: 200 ms")
    (store_case.directory / "out").symlink_to(two_mebibytes)
    outcome = store_case.run("iterations=60", limit_s=120)
    assert set(outcome.ranks) == {0, 1}, outcome.text
    for told in outcome.ranks.values():
        assert told["blocks"] == 60, "the simulation did not reach its end"
        assert "No space left" in told["error"]
    assert not list(two_mebibytes.glob("*.tmp"))
    counts = store_case.counts()
    assert counts["finished"], "no room was kept for the last counts"
    assert counts["iterations"] == 60
    stored = len(store_case.data_files("n0000"))
    assert counts["failed_files"] == 60 - stored > 0
    assert counts["missing_blocks"] == 2 * (60 - stored)
    assert counts["blocks"] == len(store_case.blocks()) == 2 * stored
    assert counts["bytes"] == counts["blocks"] * 64 * 8 * 16 * 4


def test_inline_a_full_disk_is_counted_as_well(store_case: Case, two_mebibytes: Path) -> None:
    store_case.configure(nz="64", top="inline: true", server="retry: 1 ms")
    (store_case.directory / "out").symlink_to(two_mebibytes)
    outcome = store_case.run("iterations=60", limit_s=120)
    assert set(outcome.ranks) == {0, 1}, outcome.text
    stored = {rank: {i for _, i, r in store_case.blocks() if r == rank} for rank in range(2)}
    assert 0 < len(stored[0]) + len(stored[1]) < 120
    for rank, iterations in stored.items():
        assert "No space left" in outcome.ranks[rank]["error"]
        counts = store_case.counts(f"c{rank:05}")
        assert counts["failed_files"] == counts["missing_blocks"] == 60 - len(iterations)
        assert (counts["blocks"], counts["bytes"]) == (len(iterations), len(iterations) * 64 * 8 * 16 * 4)


def test_a_disk_that_gets_room_in_time_loses_nothing(openmpi_case: Case, two_mebibytes: Path) -> None:
    openmpi_case.configure(nz="64", server="retry: 60 s")
    (openmpi_case.directory / "out").symlink_to(two_mebibytes)
    ballast = two_mebibytes / "ballast"
    ballast.write_bytes(b"\0" * 1_700_000)
    run = openmpi_case.start("iterations=10", "pause_ms=1")
    wait_for(
        lambda: (
            "trying again" in (two_mebibytes / "server-n0000.log").read_text()
            if (two_mebibytes / "server-n0000.log").exists()
            else False
        ),
        what="the disk is full",
    )
    ballast.unlink()
    outcome = finish(run, 90)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 10)


def test_a_collective_file_is_refused_instead_of_ignored(openmpi_case: Case) -> None:
    openmpi_case.configure(store=", collective: true")
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "stores.main.collective" in outcome.ranks[0]["open"]


def test_names_with_groups_and_unicode_are_kept(openmpi_case: Case) -> None:
    openmpi_case.variables = ("température",)
    openmpi_case.configure()
    assert openmpi_case.run("iterations=2").status == 0
    check_complete(openmpi_case, 2)


def test_counts_are_valid_json_while_the_run_goes_on(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=20", "pause_ms=10")
    path = openmpi_case.output / "counts-n0000.json"
    wait_for(path.exists, what="counts")
    while run.poll() is None:
        json.loads(path.read_text())
    assert finish(run).status == 0


def test_waiting_for_an_iteration_that_was_given_up_fails(openmpi_case: Case, two_mebibytes: Path) -> None:
    """Long after the file was given up, too."""
    openmpi_case.configure(nz="64", server="retry: 1 ms")
    (openmpi_case.directory / "out").symlink_to(two_mebibytes)
    (two_mebibytes / "ballast").write_bytes(b"\0" * 1_900_000)
    outcome = openmpi_case.run("iterations=40", "pause_ms=20", "final_wait=1", limit_s=120)
    for told in outcome.ranks.values():
        assert told["error"].startswith("files could not be written"), outcome.text
        assert "No space left" in told["error"]


def test_what_the_clients_cannot_store_after_the_last_server_is_said(openmpi_case: Case, two_mebibytes: Path) -> None:
    openmpi_case.configure(nz="64", server="max-restarts: 0, retry: 60 s")
    (openmpi_case.directory / "out").symlink_to(two_mebibytes)
    (two_mebibytes / "ballast").write_bytes(b"\0" * 1_900_000)
    run = openmpi_case.start("iterations=10", "pause_ms=1")
    log = two_mebibytes / "server-n0000.log"
    wait_for(lambda: log.exists() and "trying again" in log.read_text(), what="the disk is full")
    stop_server(openmpi_case.server_process())
    outcome = finish(run, 60)
    assert outcome.status != 0
    assert any("No space left" in told["error"] for told in outcome.ranks.values()), outcome.text


def test_signals_of_scope_node_do_not_wait_for_a_client_that_died(openmpi_case: Case) -> None:
    openmpi_case.configure(events="events:\n  all: {actions: [note], scope: node}\nactions:\n  note: {type: log}")
    openmpi_case.run("iterations=9", "signal=all", "together=1", "die_rank=1", "die_at=4", "die=exit", limit_s=30)
    wait_for(lambda: openmpi_case.counts()["finished"], what="the server drains")
    assert (openmpi_case.output / "server-n0000.log").read_text().count("event 'all'") >= 4
    assert openmpi_case.counts()["lost_signals"] == 0


@pytest.mark.alone
def test_a_full_disk_is_tried_again_with_pauses(openmpi_case: Case, two_mebibytes: Path) -> None:
    """At the end of the run, too, when the server has nothing else to do."""
    openmpi_case.configure(nz="64", server="retry: 1 s")
    (openmpi_case.directory / "out").symlink_to(two_mebibytes)
    logs = openmpi_case.directory / "logs"
    path = openmpi_case.directory / "halcyon.yaml"
    path.write_text(path.read_text().replace("server: {", f"server: {{log-directory: {logs}, "))
    (two_mebibytes / "ballast").write_bytes(b"\0" * 1_950_000)
    openmpi_case.run("iterations=3", limit_s=60)
    tries = (logs / "server-n0000.log").read_text().count("trying again")
    assert 3 <= tries <= 3 * 6, "a file is tried again every 200 ms for a second"


def test_the_last_server_lost_on_a_full_disk_is_said(openmpi_case: Case, two_mebibytes: Path) -> None:
    """What it had not stored is the clients' task then, and they cannot do it."""
    openmpi_case.configure(nz="32", server="max-restarts: 0, retry: 60 s")
    (openmpi_case.directory / "out").symlink_to(two_mebibytes)
    run = openmpi_case.start("iterations=100", "pause_ms=5")
    wait_for(lambda: len(list(two_mebibytes.glob("tiny.n0000.*.h5"))) > 2, what="some files")
    (two_mebibytes / "ballast").write_bytes(b"\0" * 200_000)
    log = two_mebibytes / "server-n0000.log"
    wait_for(lambda: "trying again" in log.read_text(), what="the disk is full")
    stop_server(openmpi_case.server_process())
    outcome = finish(run)
    assert outcome.status != 0, outcome.text
    for told in outcome.ranks.values():
        assert not told["closed"], "close said nothing of what is lost"


def test_replacing_a_run_leaves_other_files_alone(openmpi_case: Case) -> None:
    openmpi_case.configure(store=", existing: replace")
    openmpi_case.output.mkdir()
    strangers = ["tiny.init.h5", "tiny.v2.n0000.h5", "server-config.json", "phases-notes.csv", "tiny.xmf.txt"]
    for name in strangers:
        (openmpi_case.output / name).write_text("not Halcyon's")
    assert openmpi_case.run("iterations=3").status == 0
    assert openmpi_case.run("iterations=1").status == 0
    for name in strangers:
        assert (openmpi_case.output / name).read_text() == "not Halcyon's"
    assert len(list(openmpi_case.output.glob("tiny.n0000.i*.h5"))) == 1, "the earlier run is not gone"


@pytest.mark.parametrize("top", ["", "inline: true"])
@pytest.mark.parametrize("policy", ["block", "inline"])
def test_a_block_never_committed_is_marked_as_missing(openmpi_case: Case, top: str, policy: str) -> None:
    openmpi_case.variables = ("theta", "pressure")
    openmpi_case.configure(top=top, attributes=f", when-full: {policy}")
    outcome = openmpi_case.run("iterations=2", "leave_open=1")
    assert outcome.status == 0, outcome.text
    stored = openmpi_case.blocks()
    assert ("theta", 2, 1) not in stored, "memory that nobody committed was stored as data"
    for name, rank in (("theta", 0), ("pressure", 0), ("pressure", 1)):
        np.testing.assert_array_equal(stored[name, 2, rank], expected_block(name, 2, rank, (4, 8, 16)))
    assert contents_of(openmpi_case.output, None).missing == {("theta", 2, 1, 0, "uncommitted")}
    counts = openmpi_case.counts("c00001" if top else "n0000")
    assert counts["missing_blocks"] == 1
    assert any("allocated and not committed" in message for message in counts["messages"])
