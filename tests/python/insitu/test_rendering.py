"""Pixels: parts of nodes against all at once, references, regions, and what is written around the data."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fields import NAMES, ball, blocks_of, grids, lines, on_box, on_tetrahedra, turning
from PIL import Image as Pillow

pytest.importorskip("vtkmodules", reason="VTK is not installed")

from halcyon.errors import UnavailableError, UsageError
from halcyon.insitu.pictures import Frame, make_picture, parse_picture
from halcyon.insitu.pictures.colours import colour_map
from halcyon.insitu.pictures.draw import compose, draw, needs_order, prepare
from halcyon.insitu.pictures.labels import ticks
from halcyon.insitu.pictures.survey import join

REFERENCES = Path(__file__).parent / "references"
SMALL = (200, 160)


@pytest.fixture(scope="module", autouse=True)
def _opengl() -> None:
    from halcyon.insitu.pictures.offscreen import _window

    try:
        _window()
    except UnavailableError as why:
        pytest.skip(str(why))


def field(shape: tuple[int, int, int] = (24, 24, 24)) -> np.ndarray:  # type: ignore[type-arg]
    return 1 - ball(*grids(lines(shape)))


def nodes(values: dict[str, Any], parts: tuple[int, int, int]) -> list[Frame]:
    """Each block on a node of its own, with one ghost layer."""
    whole = on_box(values)
    count = int(np.prod(parts))
    found = {name: blocks_of(name, array, parts, ghost=1) for name, array in values.items()}
    return [
        replace(whole, blocks={**whole.blocks, **{name: [blocks[i]] for name, blocks in found.items()}})
        for i in range(count)
    ]


def different(a: Any, b: Any) -> tuple[float, float]:
    """Mean difference of two images, and the share of pixels that differ by more than 8 of 255."""
    off = np.abs(np.asarray(a, float) - np.asarray(b, float))
    if off.max() <= 1:
        off *= 255
    return float(off.mean()), float((off.max(axis=-1) > 8).mean())


PLOTS = {
    "slice": {"kind": "slice", "variable": "f", "plane": {"normal": "y"}},
    "contour": {"kind": "contour", "variable": "f", "plane": {"normal": "z"}, "levels": 6, "width": 2},
    "iso-surface": {"kind": "iso-surface", "variable": "f", "levels": [0.5, 0.7]},
    "translucent": {"kind": "iso-surface", "variable": "f", "levels": 3, "opacity": 0.5},
    "volume": {"kind": "volume", "variable": "f", "opacity": [0, 0, 0.6], "colours": "magma"},
    "quiver": {"kind": "quiver", "vector": NAMES, "plane": {"normal": "z"}, "count": 100},
}


@pytest.mark.parametrize("name", PLOTS)
def test_the_parts_of_nodes_are_the_picture_of_all_at_once(name: str) -> None:
    """Within 1 of 255 on average, and 8 in all but one pixel of a hundred (edges, where two surfaces meet)."""
    shape = (24, 24, 24)
    values = {"f": field(shape)} | turning(*grids(lines(shape)))
    picture = parse_picture({**PLOTS[name], "size": SMALL, "smoothing": 1})
    alone = make_picture(on_box(values), picture)
    parts = make_picture(nodes(values, (2, 1, 2)), picture)
    assert np.ptp(alone.pixels) > 100
    mean, share = different(alone.pixels, parts.pixels)
    assert (mean <= 1, share <= 0.01) == (True, True), (mean, share)


def test_order_matters_for_what_lets_light_through() -> None:
    """Blended back to front instead, the picture is another one."""
    values = {"f": field()}
    picture = parse_picture({**PLOTS["volume"], "size": SMALL, "smoothing": 1})
    assert needs_order(picture)
    prepared = [prepare(frame, picture) for frame in nodes(values, (1, 1, 2))]
    survey = join([one.survey for one in prepared])
    images = [draw(one, survey) for one in prepared]
    boxes = [one.survey.bounds for one in prepared]
    right = compose(picture, survey, images, boxes)
    wrong = compose(picture, survey, images, boxes[::-1])
    assert different(right.rgba, wrong.rgba)[1] > 0.02
    with pytest.raises(UsageError, match="overlaps in space"):
        compose(picture, survey, images, [boxes[0], boxes[0]])


def test_a_node_without_data_changes_nothing() -> None:
    picture = parse_picture({**PLOTS["iso-surface"], "size": SMALL, "smoothing": 1})
    frame = on_box({"f": field()})
    empty = replace(frame, blocks={**frame.blocks, "f": []})
    np.testing.assert_array_equal(make_picture([empty, frame], picture).pixels, make_picture(frame, picture).pixels)
    nothing = make_picture(empty, picture).pixels[40:]
    assert (nothing == nothing[0, 0]).all()


@pytest.mark.parametrize("name", PLOTS)
def test_a_picture_looks_like_its_reference(name: str) -> None:
    """Drivers and versions of Mesa draw edges and light a little differently: blurred, and in means."""
    shape = (24, 24, 24)
    values = {"f": field(shape)} | turning(*grids(lines(shape)))
    looks_like(name, make_picture(on_box(values), parse_picture({**PLOTS[name], "size": SMALL})).pixels)


def test_pictures_of_other_meshes_and_kinds_look_like_their_references() -> None:
    shape = (16, 16, 16)
    lines_of = {"kind": "streamlines", "vector": NAMES, "count": 24, "size": SMALL, "width": 2}
    looks_like("streamlines", make_picture(on_box(turning(*grids(lines(shape)))), parse_picture(lines_of)).pixels)
    solid = {"kind": "slice", "variable": "f", "size": SMALL, "camera": "isometric", "plane": {"normal": "x"}}
    looks_like("unstructured", make_picture(on_tetrahedra(ball, lines((6, 6, 6))), parse_picture(solid)).pixels)
    balls = {"kind": "glyph", "variable": "f", "size": SMALL, "count": 60, "colours": "plasma"}
    looks_like("glyph", make_picture(on_box({"f": field(shape)}), parse_picture(balls)).pixels)


def looks_like(name: str, pixels: Any) -> None:
    """HALCYON_WRITE_REFERENCES=1 makes the references anew; look at each before it is kept."""
    path = REFERENCES / f"{name}.png"
    if os.environ.get("HALCYON_WRITE_REFERENCES"):
        REFERENCES.mkdir(exist_ok=True)
        Pillow.fromarray(pixels).save(path, optimize=True)
    kept = np.asarray(Pillow.open(path).convert("RGB"))
    assert kept.shape == pixels.shape
    mean, share = perceived(kept, pixels)
    assert (mean < 1.5, share < 0.02) == (True, True), f"{name}: mean {mean:.2f}, {share:.1%} clearly different"


def perceived(a: Any, b: Any) -> tuple[float, float]:
    """Of blurred images in CIELAB, where either shows something: the mean distance, and the share of pixels further
    apart than 10 (clearly seen)."""
    shown = (a != a[-1, 0]).any(axis=-1) | (b != a[-1, 0]).any(axis=-1)
    off = np.linalg.norm(lab(blurred(a)) - lab(blurred(b)), axis=-1)[shown]
    return float(off.mean()), float((off > 10).mean())


def blurred(pixels: Any) -> Any:
    padded = np.pad(np.asarray(pixels, float) / 255, ((1, 1), (1, 1), (0, 0)), "edge")
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    return (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 9


def lab(rgb: Any) -> Any:
    """CIE 1976 of sRGB, white D65."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])
    f = xyz / np.array([0.9505, 1.0, 1.089])
    f = np.where(f > (6 / 29) ** 3, np.cbrt(f), f / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def test_the_tolerance_of_references_sees_a_moved_surface() -> None:
    kept = np.asarray(Pillow.open(REFERENCES / "iso-surface.png").convert("RGB"))
    assert perceived(kept, kept) == (0, 0)
    assert perceived(kept, np.roll(kept, 6, axis=1))[1] > 0.02
    lighter = np.asarray(Pillow.open(REFERENCES / "slice.png").convert("RGB"))
    assert perceived(lighter, np.clip(lighter * 1.1, 0, 255).astype(np.uint8))[0] > 1.5


def test_regions_are_drawn_in_full_and_the_rest_roughly() -> None:
    values = {"f": field()}
    said = {**PLOTS["iso-surface"], "size": SMALL, "smoothing": 1}
    frame = on_box(values, (3, 3, 3))
    whole = make_picture(frame, parse_picture(said))
    all_of_it = make_picture(frame, parse_picture({**said, "regions": "max(f) > -10"}))
    assert different(whole.pixels, all_of_it.pixels)[1] < 0.01
    some = make_picture(
        frame, parse_picture({**said, "regions": {"where": "max(f) > 0.8", "coarsen": 8, "edge": 8}}), compare=True
    )
    assert 0.005 < different(whole.pixels, some.pixels)[1] < 0.5
    assert some.saving is not None
    assert 0 < some.saving.full_blocks < some.saving.blocks == 27
    assert some.saving.saved_bytes > 0.5 * some.saving.full_bytes
    assert some.saving.saved_seconds == some.saving.full_seconds - some.saving.seconds  # type: ignore[operator]


def test_fixed_ranges_give_the_same_colours_in_each_iteration() -> None:
    said = {"kind": "slice", "variable": "f", "size": SMALL, "range": [0, 2], "smoothing": 1}
    low, high = (make_picture(on_box({"f": np.full((4, 4, 4), value)}), parse_picture(said)) for value in (0.5, 1.5))
    again = make_picture(on_box({"f": np.linspace(0.5, 3, 64).reshape(4, 4, 4)}), parse_picture(said))
    middle = (97, 44)
    assert np.abs(low.pixels[middle].astype(int) - high.pixels[middle]).max() > 40
    assert again.pixels.shape == low.pixels.shape


def test_the_background_is_behind_the_data() -> None:
    said = {**PLOTS["translucent"], "size": SMALL, "smoothing": 1}
    red = make_picture(on_box({"f": field()}), parse_picture({**said, "background": "#ff0000"})).pixels
    assert red[-1, 0].tolist() == red[2, 2].tolist() == [255, 0, 0]
    black = make_picture(on_box({"f": field()}), parse_picture({**said, "background": "black"})).pixels
    middle = (97, 41)  # of the innermost surface
    assert 0 < int(red[middle][0]) - int(black[middle][0]) < 128


def test_a_slice_has_the_colours_of_its_bar() -> None:
    """Of what is shown beside it: nothing is lit."""
    said = {"kind": "slice", "variable": "f", "size": SMALL, "range": [0, 4], "smoothing": 1}
    for value in (0.5, 1.0, 3.5):
        pixel = make_picture(on_box({"f": np.full((4, 4, 4), value)}), parse_picture(said)).pixels[97, 44]
        np.testing.assert_allclose(pixel, 255 * colour_map("viridis")[int(value / 4 * 256), :3], atol=1.5)


def test_a_picture_says_when_it_is_and_what_its_colours_mean() -> None:
    frame = on_box({"f": field((4, 4, 4))}, unit="kg m-3")
    picture = parse_picture({"kind": "slice", "variable": "f", "size": (400, 200), "smoothing": 1})
    first = make_picture(frame, picture).pixels
    later = make_picture(replace(frame, iteration=4), picture).pixels
    other = make_picture(on_box({"f": field((4, 4, 4))}, unit="s"), picture).pixels
    changed = np.argwhere((first != later).any(axis=-1))
    assert changed[:, 0].max() < 34  # the header alone
    columns = np.argwhere((first != other).any(axis=-1))[:, 1]
    assert columns.min() > 400 - 112  # the colour bar alone
    assert make_picture(frame, replace(picture, size=(64, 48))).pixels.shape == (48, 64, 3)


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [(0, 10, ["0", "2", "4", "6", "8", "10"]), (-1, 1, ["-1", "-0.5", "0", "0.5", "1"]), (3, 3, ["3"])],
)
def test_ticks_are_round(low: float, high: float, texts: list[str]) -> None:
    assert [text for _, text in ticks(low, high)] == texts


def test_ticks_differ_in_their_texts() -> None:
    found = ticks(300000.1, 300000.3)
    assert len({text for _, text in found}) == len(found) > 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"colours": "rainbowish"}, "no colour map 'rainbowish'; expected one of matplotlib's"),
        ({"colour": "reddy"}, "no colour 'reddy'"),
        ({"background": "#12"}, "no colour '#12'"),
    ],
)
def test_colours_that_do_not_exist_are_named(more: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_picture(on_box({"f": field((4, 4, 4))}), parse_picture({"kind": "slice", "variable": "f", **more}))


def test_a_machine_without_opengl_is_told_what_to_install() -> None:
    """In a process of its own: it would crash where VTK looks for what is not there."""
    environment = {k: v for k, v in os.environ.items() if k != "DISPLAY"} | {
        "__EGL_VENDOR_LIBRARY_DIRS": "/nonexistent"
    }
    script = "from halcyon.insitu.pictures import offscreen\nprint(offscreen._window().GetClassName())"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        assert done.stdout.strip() == "vtkOSOpenGLRenderWindow"
        return
    assert done.returncode == 1
    assert "UnavailableError: no OpenGL without a screen: pictures need libEGL" in done.stderr
    assert "WARN" not in done.stderr
