"""Blocks of adaptive meshes as yt takes them."""

from dataclasses import replace

import numpy as np
import pytest

from halcyon.errors import UsageError
from halcyon.insitu.pictures.amr import amr_grids
from halcyon.insitu.pictures.frame import Block, Frame, Mesh, Variable

MESH = Mesh("grid", "rectilinear", ("z", "y", "x"))
VARIABLES = {"rho": Variable("rho", "g/cm**3", mesh="grid")} | {name: Variable(name, "cm") for name in "zyx"}


def frame(*grids: tuple[tuple[float, float, float], float, tuple[int, int, int]]) -> Frame:
    """Left edge (x first), step and cells of each."""
    blocks: dict[str, list[Block]] = {name: [] for name in ("rho", *"zyx")}
    for number, (left, step, cells) in enumerate(grids):
        rho = np.arange(np.prod(cells), dtype=np.float64).reshape(cells[::-1]) + number
        blocks["rho"].append(Block("rho", rho, 1, number))
        for name, edge, n in zip("xyz", left, cells, strict=True):
            blocks[name].append(Block(name, edge + step * np.arange(n + 1), 1, number))
    return Frame(7, VARIABLES, {"grid": MESH}, blocks, 0.25)


def test_each_block_is_a_grid_of_the_level_that_its_steps_say() -> None:
    known = frame(((0, 0, 0), 1.0, (8, 4, 4)), ((2, 1, 1), 0.5, (4, 4, 4)), ((2, 1, 1), 0.125, (8, 8, 2)))
    said = amr_grids(known, ["rho"])
    assert [grid["level"] for grid in said["grid_data"]] == [0, 1, 3]
    assert [grid["dimensions"] for grid in said["grid_data"]] == [[8, 4, 4], [4, 4, 4], [8, 8, 2]]
    assert (said["grid_data"][1]["left_edge"], said["grid_data"][1]["right_edge"]) == ([2, 1, 1], [4, 3, 3])
    assert (said["domain_dimensions"], said["sim_time"], said["refine_by"]) == ([8, 4, 4], 0.25, 2)
    assert said["bbox"].tolist() == [[0, 8], [0, 4], [0, 4]]
    values, unit = said["grid_data"][0]["rho"]
    assert (values.shape, unit) == ((8, 4, 4), "g/cm**3")
    assert values[3, 2, 1] == known.blocks["rho"][0].values[1, 2, 3]
    assert np.shares_memory(values, known.blocks["rho"][0].values)


def test_the_number_of_grids_may_change() -> None:
    coarse = ((0.0, 0.0, 0.0), 1.0, (4, 4, 4))
    assert len(amr_grids(frame(coarse), ["rho"])["grid_data"]) == 1
    assert len(amr_grids(frame(coarse, coarse), ["rho"])["grid_data"]) == 2


def test_what_yt_does_not_take_is_refused() -> None:
    coarse = ((0.0, 0.0, 0.0), 1.0, (4, 4, 4))
    with pytest.raises(UsageError, match="rank 1, block 1: its steps are no level of the coarsest ones, refined by 2"):
        amr_grids(frame(coarse, ((0, 0, 0), 1 / 3, (4, 4, 4))), ["rho"])
    known = frame(coarse)
    uneven = replace(known, blocks={**known.blocks, "x": [Block("x", np.array([0, 1, 2, 3, 5.0]), 1, 0)]})
    with pytest.raises(UsageError, match="rank 1, block 0: its coordinates are not evenly spaced"):
        amr_grids(uneven, ["rho"])
    nodes = {name: [Block(name, np.arange(4.0), 1, 0)] for name in "zyx"}
    with pytest.raises(UsageError, match="yt takes values of cells, and these are of nodes"):
        amr_grids(replace(known, blocks={**known.blocks, **nodes}), ["rho"])
    with pytest.raises(UsageError, match="are rectilinear"):
        amr_grids(replace(known, variables={"rho": Variable("rho")}), ["rho"])
