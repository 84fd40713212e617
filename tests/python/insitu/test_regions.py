"""Conditions over blocks, and which blocks are drawn in full."""

import re
from dataclasses import replace

import numpy as np
import pytest
from fields import ball, grids, lines, on_box

from halcyon.errors import UsageError
from halcyon.insitu.pictures.description import parse_picture
from halcyon.insitu.pictures.divided import divided
from halcyon.insitu.pictures.draw import prepare
from halcyon.insitu.pictures.expression import BlockExpression
from halcyon.insitu.pictures.frame import Block
from halcyon.insitu.pictures.pieces import pieces_of
from halcyon.insitu.pictures.regions import parse_regions, scores_of, strides

VALUES = {"qr": np.array([0.0, 2e-4, np.nan]), "w": np.array([-3, 1, 2], np.int8), "micro/qc": np.zeros(3, np.float32)}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("max(qr) > 1e-4", True),
        ("min(w) < -2 and mean(w) == 0", True),
        ("range(w) >= 5", True),
        ("range(w) > 5", False),
        ("qr > 1e-4", True),  # anywhere
        ("all(w > -4)", True),
        ("not any(w > 2)", True),
        ("max('micro/qc') > 0 or std(w) > 100", False),
        ("-1 < mean(abs(w) / 2) <= 1", True),
        ("max(w) * 100 == 200", True),  # not in 8 bits
    ],
)
def test_conditions_over_a_block(text: str, holds: bool) -> None:
    assert BlockExpression(text, "regions").holds(VALUES) is holds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max(qr", "is no expression"),
        ("1 > 2", "names no variable"),
        ("median(qr) > 1", "has no function 'median'"),
        ("max(qr, w) > 1", "gives 'max' 2 values"),
        ("qr.max() > 1", "holds 'qr.max()'"),
        ("__import__('os')", "has no function '__import__'"),
        ("[q for q in qr]", "holds '[q for q in qr]'"),
        ("qr if w else 1", "which is none of numbers, variables and arithmetic"),
    ],
)
def test_what_is_no_condition_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        BlockExpression(text, "regions")


def test_scores_of_blocks() -> None:
    blocks = [np.zeros(64), np.linspace(0, 1, 64), np.array([0.0, 4.0] * 32), np.array([np.nan, 1.0])]
    np.testing.assert_array_equal(scores_of("range", blocks), [0, 1, 4, 0])
    entropy = scores_of("entropy", blocks)
    assert entropy[0] == 0
    assert entropy[1] > entropy[2] == 1


def test_blocks_of_interest_are_drawn_in_full_and_the_saving_is_told() -> None:
    whole = np.zeros((8, 8, 32))
    whole[:, :, 20] = 5
    frame = on_box({"f": whole}, (1, 1, 4))
    keys = sorted(frame.blocks_of("f"))
    everything = parse_regions({"auto": "range", "keep": 1}, "regions")  # but not what has the same value everywhere
    for regions in (parse_regions("max(f) > 1", "regions"), parse_regions("auto", "regions"), everything):
        assert strides(regions, frame, "f", keys) == {(0, 0): 4, (0, 1): 4, (0, 2): 1, (0, 3): 4}
    prepared = prepare(
        frame, parse_picture({"kind": "iso-surface", "variable": "f", "regions": {"where": "max(f) > 1", "edge": 8}})
    )
    saving = prepared.saving
    assert saving is not None
    assert (saving.blocks, saving.full_blocks, saving.full_bytes) == (4, 1, whole.nbytes)
    # 8 x 8 x 9 points in full, 3 x 3 x 4 of three others: each but the last reaches to its neighbour.
    assert saving.drawn_bytes == 8 * (8 * 8 * 9 + 3 * 3 * (3 + 3 + 3))
    assert saving.saved_bytes == saving.full_bytes - saving.drawn_bytes
    assert prepare(frame, parse_picture({"kind": "iso-surface", "variable": "f"})).saving is None


@pytest.mark.parametrize("ghost", [0, 1])
@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 1, 2)])
def test_large_blocks_are_divided_without_a_copy(parts: tuple[int, int, int], ghost: int) -> None:
    whole = ball(*grids(lines((20, 33, 40))))
    frame = on_box({"f": whole}, parts, ghost=ghost)
    small = divided(frame, ["f"], 8)
    assert len(small.blocks["f"]) == len(small.blocks_of("f")) >= 32
    assert all(max(block.interior) <= 11 for block in small.blocks["f"])
    for block in small.blocks["f"]:
        assert any(np.shares_memory(block.values, own.values) for own in frame.blocks["f"])
        at = tuple(
            slice(o - b, o + n + a)
            for o, n, b, a in zip(block.offset, block.interior, block.ghost_before, block.ghost_after, strict=True)
        )
        np.testing.assert_array_equal(block.values, whole[at])
    (piece,) = pieces_of(small, ["f"]).pieces
    np.testing.assert_array_equal(piece.fields["f"], whole)


def test_blocks_whose_coordinates_have_their_numbers_stay_whole() -> None:
    whole = ball(*grids(lines((20, 20, 20))))
    frame = on_box({"f": whole})
    alone = replace(frame, blocks={**frame.blocks, "f": [Block("f", whole)]})
    assert divided(alone, ["f"], 4).blocks["f"] == alone.blocks["f"]
    assert prepare(alone, parse_picture({"kind": "slice", "variable": "f", "regions": "auto"})).saving is not None


@pytest.mark.parametrize("ghost", [0, 1])
def test_many_small_blocks_are_boxes_together(ghost: int) -> None:
    whole = ball(*grids(lines((24, 32, 40))))
    small = divided(on_box({"f": whole}, (8, 8, 8), ghost=ghost), ["f"], 16)
    assert sorted(block.interior for block in small.blocks["f"])[0] == (12, 16, 20)
    assert len(small.blocks["f"]) == 8
    (piece,) = pieces_of(small, ["f"]).pieces
    np.testing.assert_array_equal(piece.fields["f"], whole)


def test_parts_at_the_end_of_a_block_keep_its_ghost_layers() -> None:
    """There they close the gap to a neighbour on another node."""
    whole = ball(*grids(lines((20, 20, 40))))
    frame = on_box({"f": whole}, (1, 1, 2), ghost=1)
    alone = replace(frame, blocks={**frame.blocks, "f": frame.blocks["f"][:1]})
    found = pieces_of(divided(alone, ["f"], 10), ["f"])
    assert (found.open_seams, found.pieces[0].fields["f"].shape) == (0, (20, 20, 21))
