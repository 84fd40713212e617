"""Figures as files of their own."""

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import imread

from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.figures.picture import INK, SERIES, VARIABLES, drawing, inline
from halcyon.figures.picture_file import LIGHT, save_picture
from halcyon.figures.picture_path import picture_path


def figure() -> Figure:
    """A filled square in one placeholder, a line in another."""
    drawn = Figure(figsize=(2, 2))
    axes = drawn.subplots()
    axes.fill_between([0, 1], [1, 1], color=SERIES[1])
    axes.plot([0, 1], [0, 1], color=INK)
    return drawn


def test_colours_are_those_of_a_light_page(tmp_path: Path) -> None:
    """Also after the same colours were drawn for a page, whose placeholders matplotlib remembers."""
    with drawing():
        inline(figure(), "page", "a page")
    save_picture(figure, tmp_path / "f.svg")
    svg = (tmp_path / "f.svg").read_text()
    assert LIGHT["series-2"] in svg
    assert LIGHT["ink"] in svg
    assert not [placeholder for placeholder in VARIABLES if placeholder in svg]


def test_a_bitmap_has_the_same_colours_on_white(tmp_path: Path) -> None:
    save_picture(figure, tmp_path / "f.png", dpi=100)
    pixels = imread(tmp_path / "f.png")
    assert pixels.shape[:2] == (200, 200)
    assert to_hex(pixels[0, 0], keep_alpha=True) == "#ffffffff"
    drawn = {to_hex(pixel) for pixel in np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)}
    assert LIGHT["series-2"] in drawn


def test_pages_keep_their_placeholders_after_a_file(tmp_path: Path) -> None:
    save_picture(figure, tmp_path / "f.svg")
    with drawing():
        page = inline(figure(), "page", "a page")
    assert "var(--series-2)" in page
    assert LIGHT["series-2"] not in page


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    for ending in ("svg", "png"):
        one, two = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
        save_picture(figure, one)
        save_picture(figure, two)
        assert one.read_bytes() == two.read_bytes()


def test_files_and_pages_have_the_same_light_colours() -> None:
    page = (files("halcyon.offload.report") / "report.css").read_text("utf-8").partition("@media")[0]
    declared = dict(re.findall(r"--([\w-]+): (#\w+);", page))
    assert {name: declared[name] for name in VARIABLES.values()} == LIGHT


def test_a_figure_that_cannot_be_drawn_leaves_no_file_and_no_colours(tmp_path: Path) -> None:
    def fail() -> Figure:
        raise UsageError("no data")

    with pytest.raises(UsageError, match="no data"):
        save_picture(fail, tmp_path / "f.svg")
    assert not list(tmp_path.iterdir())
    assert to_hex(INK) == INK


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(HalcyonSystemError, match=r"missing/f\.svg"):
        save_picture(figure, tmp_path / "missing/f.svg")


def test_paths_of_no_picture_are_refused(tmp_path: Path) -> None:
    (tmp_path / "there.svg").mkdir()
    for name, message in {
        "f.jpg": "expected a name that ends in .svg or .png",
        "f": "expected a name that ends in .svg or .png",
        "missing/f.svg": f"{tmp_path}/missing is no directory; create it, or name another one",
        "there.svg": "a directory of this name exists; expected the name of a file",
    }.items():
        with pytest.raises(UsageError) as refused:
            picture_path(tmp_path / name)
        assert str(refused.value) == f"-o {tmp_path / name}: {message}"
    assert picture_path(tmp_path / "f.PNG") == tmp_path / "f.PNG"
