"""The picture of a grammar: what is in it, and that nothing covers anything."""

import random
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from calls_by_hand import simulation, with_changing_counts
from matplotlib.image import imread

from halcyon.errors import HalcyonSystemError
from halcyon.predict.grammar_layout import ENTRY, GAP, Box, Layout, place
from halcyon.predict.grammar_picture import RULES, draw_grammar
from halcyon.predict.learnt import read_learnt

GUTTER = 50.0


def texts(svg: Path) -> list[str]:
    return [element.text or "" for element in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_picture_names_rules_calls_and_repetitions(tmp_path: Path) -> None:
    draw_grammar(read_learnt(simulation(100).save(tmp_path / "cloud.model")), tmp_path / "cloud.svg")
    said = texts(tmp_path / "cloud.svg")
    for expected in ("cloud.model: the loops of its I/O", "S", "A", "open out.%06d.dat", "write 96 B", "× 9", "× 100"):
        assert expected in said
    assert {"open", "close", "read", "write"} <= set(said), "the legend"
    assert "sync" not in said


def test_long_bodies_and_many_rules_are_folded(tmp_path: Path) -> None:
    learnt = read_learnt(with_changing_counts(900).save(tmp_path / "m"))
    draw_grammar(learnt, tmp_path / "m.svg")
    said = texts(tmp_path / "m.svg")
    assert any(text.startswith("… ") and text.endswith(" more") for text in said)
    boxes = [text for text in said if " ×  ·  " in text]
    assert len(boxes) == min(len(learnt.rules), RULES)


def test_a_bitmap_is_drawn_too(tmp_path: Path) -> None:
    draw_grammar(read_learnt(simulation(10).save(tmp_path / "m")), tmp_path / "m.png")
    height, width, _ = imread(tmp_path / "m.png").shape
    assert height > 300
    assert width > 500


def test_the_same_model_is_the_same_picture(tmp_path: Path) -> None:
    learnt = read_learnt(simulation(10).save(tmp_path / "m"))
    draw_grammar(learnt, tmp_path / "one.svg")
    draw_grammar(learnt, tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_picture_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    learnt = read_learnt(simulation(10).save(tmp_path / "m"))
    with pytest.raises(HalcyonSystemError, match=r"missing/m\.svg"):
        draw_grammar(learnt, tmp_path / "missing/m.svg")


def made_up(boxes: int, seed: int) -> list[Box]:
    """Boxes that point to later ones; each but the first is pointed to."""
    dice = random.Random(seed)
    to: dict[int, list[int]] = {box: [] for box in range(boxes)}
    for box in range(1, boxes):
        for _ in range(dice.randint(1, 4)):
            to[dice.randrange(box)].append(box)
    return [
        Box(key, dice.uniform(40, 200), 30.0 + 12 * len(others), [(30 + 12 * n, o) for n, o in enumerate(others)])
        for key, others in to.items()
    ]


@pytest.mark.parametrize("count", [1, 2, 5, 60])
@pytest.mark.parametrize("seed", range(5))
def test_nothing_covers_anything(count: int, seed: int) -> None:
    boxes = made_up(count, seed)
    layout = place(boxes, GUTTER)
    assert set(layout.boxes) == set(range(count))
    for items in layout.columns:
        for above, below in pairwise(items):
            assert above.y + above.height + GAP <= below.y + 1e-6
    for (left, width), (right, _) in pairwise(zip(layout.lefts, layout.widths, strict=True)):
        assert left + width + GUTTER <= right + 1e-6
    for box in boxes:
        assert box.width <= layout.widths[layout.boxes[box.key].column]


@pytest.mark.parametrize("seed", range(5))
def test_every_edge_arrives(seed: int) -> None:
    boxes = made_up(30, seed)
    layout = place(boxes, GUTTER)
    for box in boxes:
        assert sorted(arrivals(layout, box.key)) == sorted(box.ports)


def arrivals(layout: Layout, key: int) -> list[tuple[float, int]]:
    """Where the edges of a box begin, and where they arrive by way of lanes, column by column."""
    found = []
    for at, other in layout.boxes[key].ports:
        column = layout.boxes[key].column
        while True:
            assert other.column == column + 1
            assert other.entry == (other.height / 2 if other.lane else ENTRY)
            if not other.lane:
                break
            column = other.column
            other = other.ports[0][1]
        found.append((at, other.box))
    return found
