"""The cooling plate: what its shared file holds."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from mini_apps import MiniApps

CELLS = 48
SNAPSHOTS = 4
SETTINGS = {"cells": CELLS, "steps": 40 * SNAPSHOTS, "output_every": 40}
BEGIN = 4096

HEADER = np.dtype([("magic", "S8"), ("cells", "i8"), ("ranks", "i8"), ("snapshots", "i8"), ("slot_bytes", "i8")])
PART = np.dtype([("rank", "i8"), ("step", "i8"), ("lowest", "f8"), ("highest", "f8"), ("sum", "f8"),
                 ("unused", "i8", 3)])  # fmt: skip


def snapshots(run: Path, ranks: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The plate and what the ranks say of their parts."""
    data = (run / "heat.dat").read_bytes()
    header = np.frombuffer(data, HEADER, 1)[0]
    cells = CELLS * CELLS * 8
    assert (header["magic"], header["cells"], header["ranks"]) == (b"heat 1", CELLS, ranks)
    assert header["snapshots"] == SNAPSHOTS
    assert header["slot_bytes"] == cells + ranks * PART.itemsize
    assert len(data) == BEGIN + SNAPSHOTS * header["slot_bytes"]
    slots = np.frombuffer(data[BEGIN:], np.uint8).reshape(SNAPSHOTS, -1)
    return [(s[:cells].view("f8").reshape(CELLS, CELLS), s[cells:].view(PART)) for s in slots]


@pytest.mark.parametrize("ranks", [1, 2])
def test_heat_is_conserved_and_evens_out(mini_apps: MiniApps, ranks: int) -> None:
    plates = [plate for plate, _ in snapshots(mini_apps.run("heat", ranks, **SETTINGS), ranks)]
    for before, after in pairwise(plates):
        assert after.sum() == pytest.approx(before.sum(), rel=1e-12)
        assert after.max() < before.max()
        assert after.min() > before.min()


def test_each_rank_says_what_its_columns_hold(mini_apps: MiniApps) -> None:
    for iteration, (plate, parts) in enumerate(snapshots(mini_apps.run("heat", 2, **SETTINGS), 2), start=1):
        for rank, (columns, part) in enumerate(zip(np.split(plate, 2, axis=1), parts, strict=True)):
            assert (part["rank"], part["step"]) == (rank, 40 * iteration)
            assert (part["lowest"], part["highest"]) == (columns.min(), columns.max())
            assert part["sum"] == pytest.approx(columns.sum())


def test_any_number_of_ranks_computes_the_same_plate(mini_apps: MiniApps) -> None:
    one, two = (snapshots(mini_apps.run("heat", ranks, **SETTINGS), ranks) for ranks in (1, 2))
    for (plate, _), (other, _) in zip(one, two, strict=True):
        np.testing.assert_array_equal(plate, other)
