"""Images of several nodes become one; order from front to back; ranges that nodes agree on."""

import re

import numpy as np
import pytest
from fields import boxes

from halcyon.errors import UsageError
from halcyon.insitu.pictures.camera import Camera, camera_of
from halcyon.insitu.pictures.composite import Image, blend_ordered, composite_depth, smaller, visibility_order
from halcyon.insitu.pictures.description import Layer, Picture, View, parse_picture
from halcyon.insitu.pictures.survey import Survey, join, levels_of

NOTHING = (0.0, 0.0, 0.0, 0.0)


def image(*pixels: tuple[tuple[float, ...], float]) -> Image:
    return Image(np.array([[p[0] for p in pixels]], np.float32), np.array([[p[1] for p in pixels]], np.float32))


def test_the_nearest_surface_wins_whatever_the_order() -> None:
    red, green, blue = (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)
    images = [
        image((red, 0.5), (NOTHING, 1), (red, 0.2)),
        image((green, 0.4), (green, 0.9), (NOTHING, 1)),
        image((blue, 0.6), (NOTHING, 1), (blue, 0.1)),
    ]
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        whole = composite_depth([images[i] for i in order])
        np.testing.assert_array_equal(whole.rgba[0], [green, green, blue])
        np.testing.assert_allclose(whole.depth[0], [0.4, 0.9, 0.1])


def test_layers_shine_through_from_front_to_back() -> None:
    half_red, blue = (0.5, 0, 0, 0.5), (0, 0, 1, 1)
    front, back = image((half_red, 1), (NOTHING, 1)), image((blue, 0.7), (blue, 0.7))
    whole = blend_ordered([front, back])
    np.testing.assert_allclose(whole.rgba[0], [(0.5, 0, 0.5, 1), blue])
    np.testing.assert_allclose(whole.depth[0], 0.7)
    np.testing.assert_allclose(blend_ordered([back, front]).rgba[0, 0], blue)


def test_images_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="no images"):
        composite_depth([])
    with pytest.raises(UsageError, match="images of different sizes"):
        blend_ordered([image((NOTHING, 1)), image((NOTHING, 1), (NOTHING, 1))])
    with pytest.raises(UsageError, match="a depth of shape"):
        Image(np.zeros((2, 2, 4), np.float32), np.zeros((3, 2), np.float32))


def bricks(parts: tuple[int, int, int]) -> list[np.ndarray]:  # type: ignore[type-arg]
    return [np.array([begin, end], float).T for begin, end in boxes((12, 12, 12), parts)]


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_no_brick_hides_one_that_is_earlier_in_the_order(parallel: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    view = View(azimuth=rng.uniform(-180, 180), elevation=rng.uniform(-80, 80), parallel=parallel)
    whole = np.array([[0.0, 12]] * 3)
    camera = camera_of(Picture((Layer("volume", "f"),), view=view), whole, (100, 100))
    known = bricks((3, 2, 4))
    place = {brick: at for at, brick in enumerate(visibility_order(known, camera))}
    position = np.asarray(camera.position)
    for target in rng.uniform(0, 12, (200, 3)):
        begin = position if not parallel else target - 100 * camera.direction
        along = target - begin
        met = []
        for i, box in enumerate(known):
            near, far = np.sort((box - begin[:, None]) / along[:, None], axis=1).T
            if near.max() + 1e-9 < far.min():
                met.append((near.max(), place[i]))
        order = [at for _, at in sorted(met)]
        assert order == sorted(order)


def test_boxes_without_an_order_are_refused() -> None:
    camera = Camera((0, -50, 0), (0, 0, 0), (0, 0, 1), None, 1, 100)
    a = np.array([[0, 2.0]] * 3)
    with pytest.raises(UsageError, match="the data of nodes 0 and 1 overlaps in space"):
        visibility_order([a, a + 1], camera)
    ring = [[[1, 2], [2, 3], [1, 3]], [[1, 3], [0, 1], [2, 3]], [[2, 3], [0, 3], [0, 2]]]
    diagonal = Camera((50, 50, 50), (0, 0, 0), (0, 0, 1), None, 1, 100)
    with pytest.raises(UsageError, match="lie around one another"):
        visibility_order([np.array(box, float) for box in ring], diagonal)
    flat = [np.array([[i, i + 1], [0, 1], [0, 0]], float) for i in range(3)]
    assert sorted(visibility_order(flat, camera)) == [0, 1, 2]


def test_all_of_the_mesh_is_in_sight() -> None:
    bounds = np.array([[0, 10.0], [-3, 4], [0, 1]])
    corners = np.array(np.meshgrid(*bounds)).reshape(3, -1).T
    for said in ("isometric", "top", "left", {"azimuth": 77, "elevation": -30}):
        picture = parse_picture({"kind": "volume", "variable": "f", "camera": said})
        camera = camera_of(picture, bounds, (300, 200))
        toward = -camera.direction
        right = np.cross(camera.up, toward)
        off = corners - np.asarray(camera.position)
        ahead = -off @ toward
        assert camera.near < ahead.min() <= ahead.max() < camera.far
        height = camera.half_height or ahead * np.tan(np.radians(15))
        assert (np.abs(off @ np.asarray(camera.up)) <= height).all()
        assert (np.abs(off @ right) <= height * 1.5).all()


@pytest.mark.parametrize(
    ("normal", "toward", "up"),
    [("x", (1, 0, 0), (0, 0, 1)), ("y", (0, -1, 0), (0, 0, 1)), ("z", (0, 0, 1), (0, 1, 0))],
)
def test_a_section_is_seen_straight(normal: str, toward: tuple[int, ...], up: tuple[int, ...]) -> None:
    picture = parse_picture({"kind": "slice", "variable": "f", "plane": {"normal": normal}})
    camera = camera_of(picture, np.array([[0, 1.0]] * 3), (100, 100))
    np.testing.assert_allclose(-camera.direction, toward, atol=1e-12)
    np.testing.assert_allclose(camera.up, up, atol=1e-12)
    assert camera.half_height is not None


def test_nodes_agree_on_ranges_and_bounds() -> None:
    a = Survey(((0.0, 2.0), None), (3.0, 0.0), np.array([[0, 1.0], [0, 1], [0, 1]]))
    b = Survey(((-1.0, 1.0), (5.0, 6.0)), (1.0, 0.0), np.array([[1, 2.0], [0, 1], [0, 1]]))
    nothing = Survey((None, None), (0.0, 0.0), None)
    whole = join([nothing, a, b])
    assert (whole.ranges, whole.longest) == (((-1.0, 2.0), (5.0, 6.0)), (3.0, 0.0))
    assert whole.bounds is not None
    assert whole.bounds.tolist() == [[0, 2], [0, 1], [0, 1]]
    with pytest.raises(UsageError, match=re.escape("no surveys")):
        join([])


def test_levels_lie_evenly_within_the_range() -> None:
    layer = Layer("iso-surface", "f", levels=4)
    assert levels_of(layer, (0.0, 10.0)) == [2, 4, 6, 8]
    assert levels_of(layer, (3.0, 3.0)) == []
    assert levels_of(Layer("contour", "f", levels=(1.0, 9.0)), (0.0, 2.0)) == [1, 9]


def test_pixels_are_averaged() -> None:
    fine = np.arange(16, dtype=np.float32).reshape(4, 4, 1)
    np.testing.assert_array_equal(smaller(fine, 2)[..., 0], [[2.5, 4.5], [10.5, 12.5]])


def test_a_camera_stands_where_the_mesh_says_also_where_it_is_stretched() -> None:
    said = {"kind": "volume", "variable": "f", "scale": [1, 1, 2], "camera": {"from": [9, 0, 4], "to": [1, 0, 0.5]}}
    camera = camera_of(parse_picture(said), np.array([[0, 1.0], [0, 1], [0, 2]]), (100, 100))
    assert (camera.position, camera.target) == ((9, 0, 8), (1, 0, 1))
