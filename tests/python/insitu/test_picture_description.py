"""The map under `picture`: what it says, and what is refused."""

import re
from typing import Any

import pytest

from halcyon.errors import UsageError
from halcyon.insitu.pictures.description import Layer, Plane, View, parse_picture


def test_one_layer_is_said_without_a_list() -> None:
    picture = parse_picture(
        {"kind": "slice", "variable": "t", "plane": {"normal": "y", "at": "25 %"}, "size": [320, 200]}
    )
    assert picture.layers == (Layer("slice", "t", plane=Plane((0, 1, 0), None, 0.25)),)
    assert (picture.size, picture.names) == ((320, 200), ("t",))


def test_several_layers_and_all_keys() -> None:
    picture = parse_picture(
        {
            "layers": [
                {"kind": "iso-surface", "variable": "qc", "levels": [2, 1], "colour": "white", "opacity": 0.4},
                {"kind": "streamlines", "vector": ["u", "v", "w"], "count": 20, "range": [0, 30], "colours": "magma"},
            ],
            "camera": {"azimuth": 10, "elevation": 20, "zoom": 2, "parallel": True},
            "scale": [1, 1, 2],
            "title": "storm",
            "regions": {"where": "max(qr) > 1e-4", "coarsen": 8},
            "name": "storm",
        }
    )
    assert picture.layers[0].levels == (1.0, 2.0)
    assert picture.layers[0].is_translucent
    assert not picture.layers[1].is_translucent
    assert picture.layers[1].range == (0, 30)
    assert picture.view == View(10, 20, 2, True)
    assert picture.names == ("qc", "u", "v", "w", "qr")
    assert picture.regions is not None
    assert picture.regions.coarsen == 8


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([], "picture: []; expected a map"),
        ({"variable": "t"}, "picture: no kind; expected kind: one of slice, contour"),
        ({"kind": "pie", "variable": "t"}, "picture.kind: 'pie'; expected one of slice"),
        ({"kind": "slice"}, "picture: a slice needs variable"),
        ({"kind": "quiver", "variable": "t"}, "picture: a quiver needs vector"),
        ({"kind": "slice", "variable": "t", "vector": ["u", "v"]}, "picture.vector: a slice has none"),
        ({"kind": "slice", "variable": "t", "colors": "x"}, "picture.colors: unknown key; known keys: background"),
        ({"kind": "slice", "variable": "t", "range": [2, 1]}, "picture.range: [2, 1]; expected auto, or [low, high]"),
        ({"kind": "slice", "variable": "t", "levels": 0}, "picture.levels: 0; expected a whole number from 1 to 256"),
        ({"kind": "slice", "variable": "t", "size": [1, 2]}, "picture.size[0]: 1; expected a whole number from 16"),
        ({"kind": "slice", "variable": "t", "plane": {"normal": "q"}}, "picture.plane.normal: 'q'; expected x, y, z"),
        ({"kind": "slice", "variable": "t", "plane": {"at": "120 %"}}, "picture.plane.at: '120 %'; expected a number"),
        ({"kind": "slice", "variable": "t", "plane": {"normal": [0, 0, 0]}}, "picture.plane.normal: [0, 0, 0]"),
        ({"kind": "slice", "variable": "t", "camera": "above"}, "picture.camera: 'above'; expected one of isometric"),
        ({"kind": "slice", "variable": "t", "opacity": 1.5}, "picture.opacity: 1.5; expected a number from 0 to 1"),
        ({"kind": "slice", "variable": "t", "scale": [1, 0, 1]}, "picture.scale[1]: 0; expected a number above 0"),
        ({"kind": "slice", "variable": "t", "name": "a/b"}, "picture.name: 'a/b'; expected a name for files"),
        ({"kind": "slice", "variable": "t", "regions": 7}, "picture.regions: 7; expected auto"),
        ({"kind": "slice", "variable": "t", "regions": {"auto": "size"}}, "picture.regions.auto: 'size'; expected one"),
        ({"kind": "slice", "variable": "t", "regions": {"auto": "range", "keep": 3}}, "picture.regions.keep: 3"),
        ({"kind": "slice", "variable": "t", "regions": "max(t"}, "picture.regions: 'max(t' is no expression"),
        ({"layers": [{"kind": "slice", "variable": "t"}], "kind": "slice"}, "picture.kind: unknown key"),
        ({"layers": []}, "picture.layers: []; expected a list of at least one layer"),
        ({"layers": [{"kind": "slice"}]}, "picture.layers[0]: a slice needs variable"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_key(said: Any, message: str) -> None:
    with pytest.raises(UsageError, match="^" + re.escape(message)):
        parse_picture(said)
