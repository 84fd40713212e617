"""What to draw: the map under `picture` of an action of halcyon.yaml, or of `halcyon picture`, as checked values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from halcyon.errors import UsageError
from halcyon.insitu.pictures.regions import Regions, parse_regions

KINDS = ("slice", "contour", "quiver", "iso-surface", "volume", "glyph", "streamlines")
OF_VECTORS = ("quiver", "streamlines")
SECTIONS = ("slice", "contour", "quiver")
"""Kinds that are drawn on a plane, where the mesh is not flat itself."""
VIEWS = ("isometric", "front", "back", "left", "right", "top", "bottom")

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Plane:
    normal: Vector = (0.0, 0.0, 1.0)
    at: float | None = None
    """Where it lies along the normal, in the mesh's own unit."""
    share: float = 0.5
    """Where it lies between the ends of the mesh, unless `at` says it."""


@dataclass(frozen=True)
class View:
    """From where to look: a name or two angles, or else a place."""

    azimuth: float = -55.0
    """Degrees around the z axis, from the direction of x."""
    elevation: float = 25.0
    zoom: float = 1.0
    parallel: bool = False
    position: Vector | None = None
    target: Vector | None = None
    up: Vector | None = None


@dataclass(frozen=True)
class Layer:
    kind: str
    variable: str = ""
    """Its values are drawn; of arrows and lines they are the colour. Empty: the length of the vector."""
    vector: tuple[str, ...] = ()
    """Variables with the components along x, y, z."""
    levels: int | tuple[float, ...] = 10
    plane: Plane | None = None
    range: tuple[float, float] | None = None
    """Of values, from one end of the colours to the other; None: smallest and largest over all nodes."""
    colours: str = "viridis"
    """A colour map of matplotlib."""
    colour: str = ""
    """One colour instead, which also takes the layer off the colour bar."""
    opacity: float | tuple[float, ...] = 1.0
    """Of volumes: of values from the lowest to the highest, evenly spaced; one number is that of the highest, and the
    lowest has 0."""
    count: int | None = None
    """Arrows, glyphs or lines, about; None: all points of a mesh of points, 400 elsewhere, 60 lines."""
    length: float = 1.0
    """Of arrows and glyphs, times the distance between two of them; of lines, times the diagonal of the mesh."""
    width: float = 1.0

    @property
    def section(self) -> Plane:
        """Where it is drawn, of kinds that are drawn on a plane."""
        return self.plane or Plane()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that it needs."""
        return tuple(dict.fromkeys((*filter(None, [self.variable]), *self.vector)))

    @property
    def is_translucent(self) -> bool:
        most = max(self.opacity) if isinstance(self.opacity, tuple) else self.opacity
        return self.kind == "volume" or most < 1

    @property
    def title(self) -> str:
        """What its colours stand for, without the unit."""
        return self.variable or f"|{', '.join(self.vector)}|"


@dataclass(frozen=True)
class Picture:
    layers: tuple[Layer, ...]
    size: tuple[int, int] = (960, 640)
    view: View | None = None
    """None: straight at a section or a flat mesh, otherwise from above and the side."""
    scale: Vector = (1.0, 1.0, 1.0)
    """Stretches x, y and z."""
    background: str = "#10151c"
    title: str = ""
    smoothing: int = 2
    """Pixels are drawn so many times as wide and high, and averaged."""
    regions: Regions | None = None
    outline: bool = True
    """The edges of the whole mesh are drawn, where it is a body."""
    name: str = "picture"
    """Of its files."""

    @property
    def names(self) -> tuple[str, ...]:
        of_regions = self.regions.names if self.regions else ()
        return tuple(dict.fromkeys([*(name for layer in self.layers for name in layer.names), *of_regions]))


def parse_picture(said: object, where: str = "picture") -> Picture:
    """A picture of a map as YAML has it. With `kind` it is one layer, otherwise `layers` lists several.

    UsageError: something makes no sense; the message begins with the key.
    """
    values = _map(said, where)
    own = {f.name for f in fields(Layer)}
    of_picture = {"size", "camera", "scale", "background", "title", "smoothing", "regions", "outline", "name"}
    known = of_picture | ({"layers"} if "layers" in values else own)
    _refuse_unknown(values, known, where)
    if "layers" in values:
        listed = values["layers"]
        if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
            raise _wrong(f"{where}.layers", listed, "a list of at least one layer")
        layers = tuple(parse_layer(layer, f"{where}.layers[{i}]") for i, layer in enumerate(listed))
    else:
        layers = (parse_layer({key: value for key, value in values.items() if key in own}, where),)
    take = _Taker(values, where)
    made: dict[str, Any] = {"layers": layers}
    take(made, "size", lambda value, at: _numbers(value, at, 2, whole=True, low=16, high=8192))
    take(made, "camera", _view, "view")
    take(made, "scale", lambda value, at: _numbers(value, at, 3, above=0))
    take(made, "background", _text)
    take(made, "title", _text)
    take(made, "name", _file_name)
    take(made, "smoothing", lambda value, at: _number(value, at, whole=True, low=1, high=4))
    take(made, "regions", parse_regions)
    take(made, "outline", _flag)
    return Picture(**made)


def parse_layer(said: object, where: str) -> Layer:
    values = _map(said, where)
    _refuse_unknown(values, {f.name for f in fields(Layer)}, where)
    if "kind" not in values:
        raise UsageError(f"{where}: no kind; expected kind: one of {', '.join(KINDS)}")
    made: dict[str, Any] = {}
    take = _Taker(values, where)
    take(made, "kind", _kind)
    take(made, "variable", _text)
    take(made, "vector", _names)
    take(made, "levels", _levels)
    take(made, "plane", _plane)
    take(made, "range", _range)
    take(made, "colours", _text)
    take(made, "colour", _text)
    take(made, "opacity", _opacity)
    take(made, "count", lambda value, at: _number(value, at, whole=True, low=1, high=1_000_000))
    take(made, "length", lambda value, at: _number(value, at, above=0))
    take(made, "width", lambda value, at: _number(value, at, above=0))
    layer = Layer(**made)
    if layer.kind in OF_VECTORS and not layer.vector:
        raise UsageError(f"{where}: a {layer.kind} needs vector: the names of its components along x, y and z")
    if not layer.names or (layer.kind not in (*OF_VECTORS, "glyph") and not layer.variable):
        raise UsageError(f"{where}: a {layer.kind} needs variable: the name of one")
    if layer.vector and layer.kind not in (*OF_VECTORS, "glyph"):
        raise UsageError(f"{where}.vector: a {layer.kind} has none")
    return layer


class _Taker:
    """Moves a key that is there into keyword arguments."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values, self._where = values, where

    def __call__(
        self, into: dict[str, Any], key: str, parse: Callable[[Any, str], Any], name: str | None = None
    ) -> None:
        if key in self._values:
            into[name or key] = parse(self._values[key], f"{self._where}.{key}")


def _wrong(where: str, seen: object, expected: str) -> UsageError:
    return UsageError(f"{where}: {seen!r}; expected {expected}")


def _map(said: object, where: str) -> Mapping[str, Any]:
    if not isinstance(said, Mapping) or not all(isinstance(key, str) for key in said):
        raise _wrong(where, said, "a map with kind, variable, …")
    return said


def _refuse_unknown(values: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in values:
        if key not in known:
            raise UsageError(f"{where}.{key}: unknown key; known keys: {', '.join(sorted(known))}")


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(where, value, "true or false")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, value, "a text")
    return value


def _file_name(value: Any, where: str) -> str:
    name = _text(value, where)
    if not name or "/" in name or name.startswith("."):
        raise _wrong(where, value, "a name for files, without '/' and with no '.' in front")
    return name


def _kind(value: Any, where: str) -> str:
    if value not in KINDS:
        raise _wrong(where, value, f"one of {', '.join(KINDS)}")
    return str(value)


def _number(
    value: Any,
    where: str,
    *,
    whole: bool = False,
    low: float = float("-inf"),
    high: float = float("inf"),
    above: float = float("-inf"),
) -> Any:
    fits = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not fits or not (low <= value <= high and above < value < float("inf")):
        limits = f" from {low:g} to {high:g}" if high < float("inf") else f" above {above:g}" if above >= 0 else ""
        raise _wrong(where, value, f"a {'whole ' if whole else ''}number{limits}")
    return value


def _numbers(value: Any, where: str, count: int | None = None, **limits: Any) -> tuple[Any, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or (len(value) != count if count else not value):
        raise _wrong(where, value, f"a list of {count if count else 'at least one'} numbers")
    return tuple(_number(one, f"{where}[{i}]", **limits) for i, one in enumerate(value))


def _names(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) not in (2, 3):
        raise _wrong(where, value, "a list of two or three variables: the components along x, y and z")
    return tuple(_text(one, f"{where}[{i}]") for i, one in enumerate(value))


def _levels(value: Any, where: str) -> int | tuple[float, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(sorted(float(one) for one in _numbers(value, where)))
    return int(_number(value, where, whole=True, low=1, high=256))


def _range(value: Any, where: str) -> tuple[float, float] | None:
    if value == "auto":
        return None
    low, high = _numbers(value, where, 2)
    if not low < high:
        raise _wrong(where, value, "auto, or [low, high] with low below high")
    return float(low), float(high)


def _opacity(value: Any, where: str) -> float | tuple[float, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(float(one) for one in _numbers(value, where, low=0, high=1))
    return float(_number(value, where, low=0, high=1))


def _vector(value: Any, where: str) -> Vector:
    x, y, z = _numbers(value, where, 3)
    return float(x), float(y), float(z)


def _share(value: Any, where: str) -> float | None:
    """Of `25 %`."""
    if not isinstance(value, str):
        return None
    try:
        share = float(value.strip().removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not value.strip().endswith("%") or not 0 <= share <= 1:
        raise _wrong(where, value, "a number, or a share such as 50 %")
    return share


def _plane(value: Any, where: str) -> Plane:
    values = _map(value, where)
    _refuse_unknown(values, {"normal", "at"}, where)
    made: dict[str, Any] = {}
    normal = values.get("normal", "z")
    axes: dict[Any, Vector] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    if isinstance(normal, str):
        if normal not in axes:
            raise _wrong(f"{where}.normal", normal, "x, y, z or a list of three numbers")
        made["normal"] = axes[normal]
    else:
        x, y, z = _vector(normal, f"{where}.normal")
        length = (x * x + y * y + z * z) ** 0.5
        if not length:
            raise _wrong(f"{where}.normal", normal, "a direction")
        made["normal"] = (x / length, y / length, z / length)
    if "at" in values:
        share = _share(values["at"], f"{where}.at")
        if share is None:
            made["at"] = float(_number(values["at"], f"{where}.at"))
        else:
            made["share"] = share
    return Plane(**made)


_ANGLES: dict[str, dict[str, Any]] = {
    "isometric": {}, "front": {"azimuth": -90.0, "elevation": 0.0}, "back": {"azimuth": 90.0, "elevation": 0.0},
    "left": {"azimuth": 180.0, "elevation": 0.0}, "right": {"azimuth": 0.0, "elevation": 0.0},
    "top": {"azimuth": -90.0, "elevation": 90.0}, "bottom": {"azimuth": -90.0, "elevation": -90.0},
}  # fmt: skip


def _view(value: Any, where: str) -> View:
    if isinstance(value, str):
        if value not in VIEWS:
            raise _wrong(where, value, f"one of {', '.join(VIEWS)}, or a map")
        return View(**_ANGLES[value], parallel=value != "isometric")
    values = _map(value, where)
    _refuse_unknown(values, {"azimuth", "elevation", "zoom", "parallel", "from", "to", "up"}, where)
    made: dict[str, Any] = {}
    take = _Taker(values, where)
    take(made, "azimuth", _number)
    take(made, "elevation", lambda one, at: _number(one, at, low=-90, high=90))
    take(made, "zoom", lambda one, at: _number(one, at, above=0))
    take(made, "from", _vector, "position")
    take(made, "to", _vector, "target")
    take(made, "up", _vector)
    take(made, "parallel", _flag)
    return View(**made)
