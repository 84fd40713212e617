"""A job of two nodes: each has its server, and one view shows what both have published."""

import csv
import os
import signal

import h5py
import numpy as np
import pytest
import xarray
from running import Case, check_complete, finish, wait_for


def test_each_node_has_its_own_server_and_files(two_node_case: Case) -> None:
    two_node_case.configure()
    outcome = two_node_case.run("iterations=4")
    assert outcome.status == 0, outcome.text
    check_complete(two_node_case, 4)
    for node in ("n0000", "n0001"):
        assert len(list(two_node_case.output.glob(f"tiny.{node}.*.h5"))) == 4
        assert two_node_case.counts(node)["finished"]


def test_readers_of_the_view_never_see_fill_while_a_node_is_late(two_node_case: Case) -> None:
    """The server of node 1 stands still for seconds and node 0 goes on publishing; readers poll with xarray."""
    two_node_case.configure(store=", view-interval: 20 ms, iterations-per-file: 5")
    run = two_node_case.start("iterations=400", "pause_ms=10")
    view = two_node_case.output / "tiny.h5"
    wait_for(view.exists, what="a first view")
    late = two_node_case.server_process("n0001")
    os.kill(late, signal.SIGSTOP)
    seen = 0
    try:
        already = len(list(two_node_case.output.glob("tiny.n0000.*.h5")))

        def ahead() -> bool:
            nonlocal seen
            check_view(view)
            seen += 1
            return len(list(two_node_case.output.glob("tiny.n0000.*.h5"))) >= already + 66

        wait_for(ahead, 60, "node 0 gets ahead")
        with h5py.File(view) as f:
            shown = f["theta"].shape[0]
        assert shown < 5 * (already + 66), "the view shows iterations that node 1 has not published"
    finally:
        os.kill(late, signal.SIGCONT)
    while run.poll() is None:
        check_view(view)
        seen += 1
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert seen > 20
    check_complete(two_node_case, 400)
    with xarray.open_dataset(view, engine="h5netcdf") as final:
        assert final["theta"].shape == (400, 4, 8, 32)


@pytest.mark.alone
def test_servers_write_in_their_own_slot_of_the_iteration(two_node_case: Case) -> None:
    two_node_case.configure(server="threads: 1, transfer-slots: true")
    outcome = two_node_case.run("iterations=12", "pause_ms=50")
    assert outcome.status == 0, outcome.text
    check_complete(two_node_case, 12)
    waits = {}
    for node in ("n0000", "n0001"):
        with (two_node_case.output / f"server-{node}.csv").open() as file:
            waits[node] = [int(row["slot_wait_ns"]) for row in csv.DictReader(file)]
    assert max(waits["n0000"]) == 0, "the first server has the first slot"
    # The first iterations give the estimate; the last ones may be hurried by the close.
    assert min(waits["n0001"][3:8]) > 0


def check_view(view: os.PathLike[str]) -> None:
    with xarray.open_dataset(view, engine="h5netcdf") as data:
        theta = data["theta"].values
    assert not np.isnan(theta).any(), "a reader saw fill values"
    for time in range(theta.shape[0]):
        np.testing.assert_array_equal(theta[time, 0, 0, ::16], 1000 * time + 10 * np.arange(2) + 1.25)
