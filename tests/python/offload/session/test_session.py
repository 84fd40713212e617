"""A run that goes well, and calls that make no sense."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from running import Case, check_complete, finish, is_gone, shared_memory_of_halcyon, wait_for

from halcyon.offload.data_files import ZARR


def test_every_block_of_a_run_is_stored(case: Case) -> None:
    case.configure()
    outcome = case.run("iterations=6")
    assert outcome.status == 0, outcome.text
    check_complete(case, 6)
    counts = case.counts()
    assert counts["finished"]
    assert counts["blocks"] == 12
    assert counts["iterations"] == 6
    assert counts["missing_blocks"] == counts["rejected_blocks"] == counts["early_parts"] == 0


def test_zero_copy_stores_the_same(case: Case) -> None:
    case.configure()
    outcome = case.run("iterations=4", "zero_copy=1")
    assert outcome.status == 0, outcome.text
    check_complete(case, 4)


def test_the_server_is_gone_after_close_and_leaves_nothing(case: Case) -> None:
    before = shared_memory_of_halcyon()
    case.configure()
    outcome = case.run("iterations=2")
    assert outcome.status == 0, outcome.text
    wait_for(lambda: is_gone(case.server_process()), what="server exits after close")
    assert shared_memory_of_halcyon() <= before


def test_several_iterations_go_into_one_file(store_case: Case) -> None:
    store_case.configure(store=", iterations-per-file: 4")
    outcome = store_case.run("iterations=10")
    assert outcome.status == 0, outcome.text
    assert len(store_case.data_files("n0000")) == 3
    check_complete(store_case, 10)


def test_waiting_for_an_iteration_does_not_wait_for_a_full_file(store_case: Case) -> None:
    store_case.configure(store=", iterations-per-file: 100")
    outcome = store_case.run("iterations=3", "wait=stored")
    assert outcome.status == 0, outcome.text
    check_complete(store_case, 3)


def test_durable_can_be_waited_for(store_case: Case) -> None:
    store_case.configure()
    outcome = store_case.run("iterations=3", "wait=durable")
    assert outcome.status == 0, outcome.text
    check_complete(store_case, 3)


def test_inline_stores_the_same_values(case: Case) -> None:
    check_inline_run(case)


def test_inline_clients_write_each_format(store_case: Case) -> None:
    check_inline_run(store_case)


def check_inline_run(case: Case) -> None:
    case.configure(top="inline: true")
    outcome = case.run("iterations=4")
    assert outcome.status == 0, outcome.text
    check_complete(case, 4)
    assert not list(case.output.glob("server-n*"))


def test_a_run_in_another_format_replaces_all_of_the_earlier_one(openmpi_case: Case) -> None:
    openmpi_case.configure(store=", existing: replace")
    assert openmpi_case.run("iterations=3").status == 0
    first = {path.name for path in openmpi_case.data_files()}
    assert (openmpi_case.output / "tiny.h5").exists()
    openmpi_case.format = ZARR
    openmpi_case.configure(store=", existing: replace")
    (openmpi_case.output / "tiny.png").touch()
    assert openmpi_case.run("iterations=2").status == 0
    check_complete(openmpi_case, 2)
    names = {path.name for path in openmpi_case.output.iterdir()}
    assert not names & (first | {"tiny.h5", "tiny.xmf"}), "a view of files that are not there any more"
    assert "tiny.png" in names


def test_a_run_whose_only_store_has_no_view_is_read_like_any_other(openmpi_case: Case) -> None:
    openmpi_case.format = ZARR
    openmpi_case.configure()
    assert openmpi_case.run("iterations=3").status == 0
    assert len(openmpi_case.data_files("n0000")) == 3
    out = openmpi_case.output
    assert openmpi_case.counts()["messages"] == []
    said = halcyon_command("summary", out)
    assert said.returncode == 0, said.stderr
    assert "nothing dropped, spilled, skipped" in said.stdout
    assert "throughput, servers" in said.stdout
    page = openmpi_case.directory / "report.html"
    said = halcyon_command("report", out, "--output", page)
    assert said.returncode == 0, said.stderr
    assert "</html>" in page.read_text()
    refused = halcyon_command("view", out)
    assert refused.returncode == 2
    assert "its data files are Zarr folders, which have no view" in refused.stderr
    assert not (out / "tiny.h5").exists()


def halcyon_command(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "halcyon", *arguments], capture_output=True, text=True, timeout=120)


def test_a_small_buffer_and_fast_iterations_lose_nothing(store_case: Case) -> None:
    """Little more than one iteration fits into each arena: nearly every write has to wait."""
    store_case.variables = ("a", "b", "c")
    store_case.configure(nz="64", size="600 KiB")
    outcome = store_case.run("iterations=40")
    assert outcome.status == 0, outcome.text
    check_complete(store_case, 40)
    assert outcome.ranks[0]["blocked_ns"] > 0, "the test did not put the buffer under pressure"


def test_a_run_in_a_directory_that_holds_one_is_refused(store_case: Case) -> None:
    store_case.configure()
    assert store_case.run("iterations=1").status == 0
    again = store_case.run("iterations=1")
    assert again.status != 0
    assert "already holds a run" in again.ranks[0]["open"]
    check_complete(store_case, 1)


def test_existing_replace_deletes_the_earlier_run(store_case: Case) -> None:
    store_case.configure(store=", existing: replace")
    assert store_case.run("iterations=5").status == 0
    assert store_case.run("iterations=2").status == 0
    assert {i for _, i, _ in store_case.blocks()} == {0, 1}


def test_the_arena_is_free_again_after_a_thousand_iterations_of_eight_clients(openmpi_case: Case) -> None:
    openmpi_case.ranks = 8
    openmpi_case.configure(store=", iterations-per-file: 50", nz="1", size="64 MiB")
    outcome = openmpi_case.run("iterations=1000", "final_wait=1", limit_s=240)
    assert outcome.status == 0, outcome.text
    for rank in outcome.ranks.values():
        assert rank["free"] == rank["arena"]
    check_complete(openmpi_case, 1000)


def test_the_view_shows_every_value(openmpi_case: Case) -> None:
    import h5py

    openmpi_case.configure()
    assert openmpi_case.run("iterations=3").status == 0
    with h5py.File(openmpi_case.output / "tiny.h5") as view:
        theta = view["theta"][...]
    assert theta.shape == (3, 4, 8, 32)
    blocks = openmpi_case.blocks()
    for (_, iteration, rank), block in blocks.items():
        np.testing.assert_array_equal(theta[iteration, :, :, 16 * rank : 16 * rank + 16], block)


def test_detach_ends_the_run_before_the_server_has_stored_it(case: Case) -> None:
    closed = case.directory / "closed"
    case.preload_into_servers("gated_calls", GATED_RENAME=str(closed))
    case.configure(top="close: detach")
    run = case.start("iterations=40", case.gates(4))
    case.wait_at_gate(4)
    closed.touch()
    case.open_gate(4)
    outcome = finish(run, 30)
    assert outcome.status == 0, outcome.text
    server = case.server_process()
    assert not is_gone(server)
    assert not (case.output / "tiny.n0000.i00000005.h5").exists(), "the server has one thread, which waits at a gate"
    closed.unlink()
    wait_for(lambda: is_gone(server), what="the server exits")
    check_complete(case, 40)
    with h5py.File(case.output / "tiny.h5") as view:
        assert view["theta"].shape[0] == 40


@pytest.mark.parametrize(
    "option",
    ["compression: gzip", "compression: when-idle", "precision: {bitround: 20}", "precision: half"],
)
def test_compression_and_precision_keep_the_values(store_case: Case, option: str) -> None:
    """What the scenario writes into a name of four letters before iteration 2 fits the 11 bits of half precision."""
    store_case.variables = ("temp",)
    store_case.configure(attributes=f", {option}", store=", index: true, checksum: true")
    assert store_case.run("iterations=2").status == 0
    check_complete(store_case, 2)


def test_chunks_for_the_reader_of_time_series_hold_the_same_values(openmpi_case: Case) -> None:
    openmpi_case.configure(store=", iterations-per-file: 8, expected-reader: time-series")
    assert openmpi_case.run("iterations=20").status == 0
    check_complete(openmpi_case, 20)
    with h5py.File(openmpi_case.output / "tiny.n0000.i00000000.h5") as f:
        chunk = f["theta/d000000"].chunks
        assert chunk[0] == 8, "a chunk spans the file's iterations"


@pytest.mark.alone
def test_compression_when_idle_says_when_it_switched(openmpi_case: Case) -> None:
    openmpi_case.configure(attributes=", compression: when-idle")
    assert openmpi_case.run("iterations=15", "pause_ms=100").status == 0
    check_complete(openmpi_case, 15)
    switches = openmpi_case.counts()["switches"]
    assert switches
    assert switches[0]["what"] == "compression on"
    log = (openmpi_case.output / "server-n0000.log").read_text()
    assert "compression when-idle is now on" in log
    stored = []
    for number in (0, 14):
        with h5py.File(openmpi_case.output / f"tiny.n0000.i{number:08d}.h5") as f:
            block = f["theta/d000000"]
            stored.append(block.id.get_storage_size() / block.nbytes)
    assert stored[0] == 1
    assert stored[1] < 1
