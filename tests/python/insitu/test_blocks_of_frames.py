"""What a frame refuses, and how blocks become pieces of meshes."""

import re
from dataclasses import replace

import fields
import numpy as np
import pytest
from fields import BOX, SHAPE, ball, grids, lines, on_box, on_tetrahedra, on_warped, warped

from halcyon.errors import UsageError
from halcyon.insitu.pictures.frame import Block, Frame, Mesh, Variable, frame_of
from halcyon.insitu.pictures.pieces import pieces_of

F = ball(*grids(lines()))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"values": np.array(["a"])}, "elements of type <U1 are no numbers"),
        ({"whole": (4, 4)}, "has 1 dimensions, and a place or ghost layers of another number"),
        ({"ghost_before": (-1,)}, "negative"),
        ({"ghost_before": (3,), "ghost_after": (2,)}, "smaller than its ghost layers"),
        ({"whole": (6,), "offset": (3,)}, "ends outside of the whole"),
    ],
)
def test_a_block_that_makes_no_sense_is_refused(wrong: dict[str, object], said: str) -> None:
    good: dict[str, object] = {"values": np.zeros(4), "rank": 2, "number": 1}
    with pytest.raises(UsageError, match=f"variable 't', rank 2, block 1: .*{re.escape(said)}"):
        Block("t", **good | wrong)  # type: ignore[arg-type]


def test_meshes_and_variables_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="no type 'round'; known types: rectilinear"):
        Mesh("m", "round", ("x",))
    with pytest.raises(UsageError, match="needs cells and cell_types"):
        Mesh("m", "unstructured", ("x", "y"))
    with pytest.raises(UsageError, match="has 4 coordinates"):
        Mesh("m", "rectilinear", ("a", "b", "c", "d"))
    with pytest.raises(UsageError, match="expected node or cell"):
        Variable("t", centering="face")  # type: ignore[arg-type]


def test_a_frame_names_what_it_lacks() -> None:
    frame = on_box({"f": F})
    with pytest.raises(UsageError, match="no variable 'g'; known variables: f, x, y, z"):
        pieces_of(frame, ["g"])
    with pytest.raises(UsageError, match="two blocks of rank 0 have the number 0"):
        replace(frame, blocks={"f": [*frame.blocks["f"], *frame.blocks["f"]]}).blocks_of("f")
    with pytest.raises(UsageError, match="coordinate 'y' is not here"):
        pieces_of(replace(frame, blocks={k: v for k, v in frame.blocks.items() if k != "y"}), ["f"])
    with pytest.raises(UsageError, match="no mesh 'box'; known meshes: none"):
        pieces_of(replace(frame, meshes={}), ["f"])


def test_one_block_is_looked_at_and_not_copied() -> None:
    frame = on_box({"f": F})
    (piece,) = (found := pieces_of(frame, ["f"])).pieces
    assert found.copied_bytes == 0
    assert np.shares_memory(piece.fields["f"], frame.blocks["f"][0].values)
    assert np.shares_memory(piece.coordinates[0], frame.blocks["x"][0].values)
    assert piece.centering == "node"


@pytest.mark.parametrize("parts", [(1, 2, 1), (2, 3, 4)])
@pytest.mark.parametrize("ghost", [0, 2])
def test_blocks_that_tile_the_whole_become_it(parts: tuple[int, int, int], ghost: int) -> None:
    found = pieces_of(on_box({"f": F}, parts, ghost=ghost), ["f"])
    (piece,) = found.pieces
    np.testing.assert_array_equal(piece.fields["f"], F)
    for line, expected in zip(piece.coordinates, lines()[::-1], strict=True):
        np.testing.assert_array_equal(line, expected)
    assert (found.open_seams, found.copied_bytes) == (0, F.nbytes)


def test_ghost_layers_do_not_replace_what_their_owner_wrote() -> None:
    blocks = fields.blocks_of("f", F, (1, 1, 2), ghost=1)
    for block in blocks:
        block.values[..., : block.ghost_before[2]] = -1
        block.values[..., block.values.shape[2] - block.ghost_after[2] :] = -1
    frame = on_box({"f": F})
    (piece,) = pieces_of(replace(frame, blocks={**frame.blocks, "f": blocks}), ["f"]).pieces
    np.testing.assert_array_equal(piece.fields["f"], F)


def test_blocks_with_a_hole_reach_to_their_neighbours_and_ghosts_cover_it() -> None:
    blocks = fields.blocks_of("f", F, (1, 1, 4))
    frame = on_box({"f": F})

    def of(kept: list[Block]) -> tuple[list[tuple[int, ...]], int]:
        found = pieces_of(replace(frame, blocks={**frame.blocks, "f": kept}), ["f"])
        for piece in found.pieces:
            begin = int(np.searchsorted(lines()[2], piece.coordinates[0][0]))
            np.testing.assert_array_equal(piece.fields["f"], F[:, :, begin : begin + piece.fields["f"].shape[2]])
        return [piece.fields["f"].shape for piece in found.pieces], found.open_seams

    # 17 points as 4, 4, 4, 5; each but the last goes on to the first of its neighbour, where that is here.
    assert of([blocks[0], blocks[1], blocks[3]]) == ([(9, 13, 5), (9, 13, 4), (9, 13, 5)], 1)
    with_ghosts = fields.blocks_of("f", F, (1, 1, 4), ghost=1)
    assert of([with_ghosts[0], with_ghosts[1], with_ghosts[3]]) == ([(9, 13, 5), (9, 13, 5), (9, 13, 5)], 0)
    assert of([blocks[0]]) == ([(9, 13, 4)], 1)


def test_values_of_cells_become_values_at_their_centres() -> None:
    cells = ball(*grids([(line[1:] + line[:-1]) / 2 for line in lines()]))
    frame = on_box({"f": cells}, (2, 2, 2), coordinates=lines())
    (stored,) = pieces_of(frame, ["f"]).pieces
    assert stored.centering == "cell"
    assert [len(line) for line in stored.coordinates] == list(SHAPE[::-1])
    (points,) = pieces_of(frame, ["f"], at_points=True).pieces
    assert points.centering == "node"
    np.testing.assert_array_equal(points.fields["f"], cells)
    np.testing.assert_allclose(points.coordinates[0], (lines()[2][1:] + lines()[2][:-1]) / 2)


@pytest.mark.parametrize("cells", [False, True])
def test_a_curvilinear_mesh_is_put_together_from_its_blocks(cells: bool) -> None:
    points = warped(lines())
    values = ball(*points)
    if cells:
        values = values[1:, 1:, 1:]
    (piece,) = pieces_of(on_warped({"f": values}, points, (2, 2, 2)), ["f"]).pieces
    assert piece.centering == ("cell" if cells else "node")
    np.testing.assert_array_equal(piece.fields["f"], values)
    for found, expected in zip(piece.coordinates, points[::-1], strict=True):
        np.testing.assert_array_equal(found, expected)


def test_shapes_that_do_not_fit_are_named() -> None:
    with pytest.raises(UsageError, match="'f' has the shape 9 x 13 x 17, but mesh 'box' has 9 x 13 x 20 nodes"):
        pieces_of(on_box({"f": F}, coordinates=[*lines()[:2], np.arange(20.0)]), ["f"])
    with pytest.raises(UsageError, match=r"'f' has the shape \(9, 13, 17\) at .* but 'g' has \(9, 13, 16\)"):
        pieces_of(on_box({"f": F, "g": F[..., 1:]}), ["f", "g"])
    with pytest.raises(UsageError, match="has 1 dimensions; pictures are of 2 or 3"):
        pieces_of(frame_of({"f": np.zeros(5)}, []), ["f"])


def test_blocks_without_a_place_have_coordinates_of_their_own() -> None:
    def grid(rank: int, x: float) -> list[Block]:
        return [
            Block("f", np.full((2, 3), rank), rank),
            Block("y", np.arange(3.0), rank),
            Block("x", x + np.arange(4.0), rank),
        ]

    flat = Mesh("flat", "rectilinear", ("y", "x"))
    variables = {"f": Variable("f", mesh="flat"), "x": Variable("x"), "y": Variable("y")}

    def frame(*places: float) -> Frame:
        made = [block for rank, x in enumerate(places) for block in grid(rank, x)]
        return Frame(0, variables, {"flat": flat}, {n: [b for b in made if b.variable == n] for n in "fyx"})

    pieces = pieces_of(frame(0, 3, 10), ["f"]).pieces
    assert [piece.bounds[0].tolist() for piece in pieces] == [[0, 3], [3, 6], [10, 13]]
    assert len(pieces_of(frame(0, 3), ["f"]).pieces) == 2  # as many as there are in this iteration
    with pytest.raises(UsageError, match=r"block 0 of rank 0 and block 0 of rank 1 overlap: .*amr_grids"):
        pieces_of(frame(0, 2), ["f"])


def test_ten_thousand_small_blocks_are_one_grid() -> None:
    whole = np.arange(100 * 40 * 40, dtype=np.float32).reshape(100, 40, 40)
    frame = on_box({"f": whole}, (25, 20, 20))
    assert len(frame.blocks["f"]) == 10_000
    (piece,) = pieces_of(frame, ["f"]).pieces
    np.testing.assert_array_equal(piece.fields["f"], whole)


def test_thinned_blocks_keep_their_ends() -> None:
    frame = on_box({"f": F}, (1, 1, 2))
    left, right = pieces_of(frame, ["f"], strides={(0, 0): 1, (0, 1): 5}).pieces
    np.testing.assert_array_equal(left.fields["f"], F[:, :, :9])
    np.testing.assert_array_equal(right.fields["f"], F[np.ix_([0, 5, 8], [0, 5, 10, 12], [8, 13, 16])])
    np.testing.assert_array_equal(right.coordinates[0], lines()[2][[8, 13, 16]])


def test_variables_without_a_mesh_are_cells_of_unit_size() -> None:
    (cells,) = pieces_of(frame_of({"f": F}, [Variable("f")]), ["f"]).pieces
    assert (cells.centering, cells.coordinates[0].tolist()) == ("cell", list(range(18)))
    (nodes,) = pieces_of(frame_of({"f": F}, [Variable("f", centering="node")]), ["f"]).pieces
    assert (nodes.centering, nodes.coordinates[0].tolist()) == ("node", list(range(17)))


def test_unstructured_cells_are_taken_as_they_are() -> None:
    frame = on_tetrahedra(ball, lines((3, 3, 3)))
    (piece,) = pieces_of(frame, ["f"]).pieces
    assert piece.cells is not None
    assert np.shares_memory(piece.cells.connectivity, frame.blocks["cells"][0].values)
    assert piece.cells.offsets.tolist() == list(range(0, 4 * 48 + 1, 4))
    assert set(piece.cells.types.tolist()) == {10}


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        (
            "cells",
            np.array([0, 1, 2, 27], np.int32),
            "names the points 0 to 27, but there are 27, and they are counted from 0",
        ),
        ("types", np.array([7], np.int32), "cells of type 7 have no fixed number of points"),
        ("sizes", np.array([3], np.int32), "ask for a list of"),
        ("sizes", np.array([3, 4], np.int32), "1 types of cells, but 2 sizes"),
        ("cells", np.array([0.0, 1, 2, 3]), "elements of type float64; expected whole numbers"),
        ("f", np.zeros(5), "5 values, but mesh 'solid' has 27 points and 48 cells"),
        ("px", np.zeros(5), "coordinates of different lengths"),
    ],
)
def test_unstructured_cells_that_make_no_sense_are_refused(name: str, values: np.ndarray, said: str) -> None:  # type: ignore[type-arg]
    frame = on_tetrahedra(ball, lines((3, 3, 3)))
    with pytest.raises(UsageError, match=re.escape(said)):
        pieces_of(replace(frame, blocks={**frame.blocks, name: [Block(name, values)]}), ["f"])


def test_cells_of_several_types_with_their_sizes() -> None:
    """A hexahedron and a pyramid on top, each cell with its number of points."""
    arrays = {
        "px": np.array([0, 1, 1, 0, 0, 1, 1, 0, 0.5]), "py": np.array([0, 0, 1, 1, 0, 0, 1, 1, 0.5]),
        "pz": np.array([0, 0, 0, 0, 1, 1, 1, 1, 2.0]),
        "cells": np.array([0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8]), "types": np.array([12, 14], np.uint8),
        "sizes": np.array([8, 5], np.int16), "f": np.array([1.0, 2.0]),
    }  # fmt: skip
    blocks = {name: [Block(name, array)] for name, array in arrays.items()}
    variables = {"f": Variable("f", mesh="solid")}
    frame = Frame(0, variables, {"solid": fields.SOLID}, blocks)
    for known in (frame, replace(frame, meshes={"solid": replace(fields.SOLID, cell_sizes="")})):
        (piece,) = pieces_of(known, ["f"]).pieces
        assert piece.cells is not None
        assert (piece.centering, piece.cells.offsets.tolist()) == ("cell", [0, 8, 13])


def test_the_mesh_of_a_variable_is_that_of_all() -> None:
    frame = on_box({"f": F, "g": F})
    other = {**frame.variables, "g": Variable("g")}
    with pytest.raises(UsageError, match="live on one mesh, but here are f: box, g: no mesh"):
        pieces_of(replace(frame, variables=other), ["f", "g"])
    assert BOX.names == ("z", "y", "x")


def test_coordinates_in_pieces_belong_to_a_block_that_is_the_whole() -> None:
    """As of a file of all servers, or where small blocks were put together."""
    frame = on_box({"f": F})
    pieces = {name: fields.blocks_of(name, line, (3,)) for name, line in zip("zyx", lines(), strict=True)}
    (piece,) = pieces_of(replace(frame, blocks={**frame.blocks, **pieces}), ["f"]).pieces
    np.testing.assert_array_equal(piece.coordinates[0], lines()[2])


def test_a_block_without_a_place_takes_the_part_of_the_coordinates_that_is_its_own() -> None:
    left, right = fields.blocks_of("f", F, (1, 1, 2))
    frame = on_box({"f": F})
    blocks = [Block("f", block.values, number=i) for i, block in enumerate((left, right))]
    lines_of = {}
    for name, line in zip("zyx", lines(), strict=True):
        parts = fields.blocks_of(name, line, (2 if name == "x" else 1,))
        lines_of[name] = [replace(block, rank=0, number=i) for i, block in enumerate(parts)]
    for name in "zy":
        lines_of[name].append(replace(lines_of[name][0], number=1))
    found = pieces_of(replace(frame, blocks={**lines_of, "f": blocks}), ["f"]).pieces
    assert [piece.coordinates[0].tolist() for piece in found] == [lines()[2][:8].tolist(), lines()[2][8:].tolist()]


def test_coordinates_may_have_the_ghost_layers_of_their_block() -> None:
    """One rank with periodic ghost layers, whose coordinates have them, too."""
    inner = F[:, :, 1:-1]
    block = Block("f", F, whole=inner.shape, ghost_before=(0, 0, 1), ghost_after=(0, 0, 1))
    frame = on_box({"f": F})
    (piece,) = pieces_of(replace(frame, blocks={**frame.blocks, "f": [block]}), ["f"]).pieces
    np.testing.assert_array_equal(piece.fields["f"], inner)
    np.testing.assert_array_equal(piece.coordinates[0], lines()[2][1:-1])
