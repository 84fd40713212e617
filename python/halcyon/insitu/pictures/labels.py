"""What is around and behind the data: background, colour bars with name and unit, title, iteration and time."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from halcyon.insitu.pictures.colours import colour, colour_map, is_light
from halcyon.insitu.pictures.composite import Image, smaller
from halcyon.insitu.pictures.description import Layer, Picture
from halcyon.insitu.pictures.frame import Frame
from halcyon.insitu.pictures.survey import Survey

_HEADER = 34
_BAR = 112
_SMALL = 160
"""A picture that is lower has no texts."""
_TICKS = 5


def drawn_size(picture: Picture, survey: Survey) -> tuple[int, int]:
    """Width and height of the part that shows data."""
    width, height = picture.size
    if height < _SMALL:
        return width, height
    bars = _BAR if _barred(picture, survey) else 0
    return max(16, width - bars), height - _HEADER


def finished(image: Image, picture: Picture, survey: Survey, frame: Frame) -> NDArray[np.uint8]:
    """The picture, (height, width, 3). The drawn image has `smoothing` times the pixels."""
    width, height = picture.size
    behind = np.asarray(colour(picture.background), np.float32)
    drawn = smaller(image.rgba, picture.smoothing)
    pixels = np.empty((height, width, 3), np.float32)
    pixels[:] = behind
    part_height, part_width = drawn.shape[:2]
    top = height - part_height
    pixels[top:, :part_width] = drawn[..., :3] + (1 - drawn[..., 3:]) * behind
    whole = Pillow.fromarray(np.rint(np.clip(pixels, 0, 1) * 255).astype(np.uint8))
    if height >= _SMALL:
        _write(whole, picture, survey, frame)
    return np.asarray(whole)


def _barred(picture: Picture, survey: Survey) -> list[tuple[Layer, tuple[float, float]]]:
    """Layers that have a colour bar, with their ranges; two of the same look share one."""
    found: dict[Any, tuple[Layer, tuple[float, float]]] = {}
    for layer, shown in zip(picture.layers, survey.ranges, strict=True):
        if shown is not None and not layer.colour:
            found.setdefault((layer.title, layer.colours, shown), (layer, shown))
    return list(found.values())


def _write(whole: Any, picture: Picture, survey: Survey, frame: Frame) -> None:
    pen = ImageDraw.Draw(whole)
    ink = (27, 31, 36) if is_light(picture.background) else (228, 232, 236)
    width, height = picture.size
    when = f"iteration {frame.iteration}" + ("" if frame.time is None else f", time {frame.time:g}")
    title = picture.title or ", ".join(dict.fromkeys(layer.title for layer in picture.layers))
    pen.text((width - 12, 10), when, fill=ink, font=_font(13), anchor="ra")
    room = width - 40 - pen.textlength(when, font=_font(13))
    pen.text((12, 9), _fitting(title, _font(15), room), fill=ink, font=_font(15))
    bars = _barred(picture, survey)
    if not bars:
        return
    room = (height - _HEADER) / len(bars)
    for i, (layer, shown) in enumerate(bars):
        unit = ""
        names = (layer.variable,) if layer.variable else layer.vector[:1]
        for name in names:
            unit = frame.variables[name].unit if name in frame.variables else ""
        _bar(whole, pen, (width - _BAR + 14, _HEADER + i * room), room, layer, shown, unit, ink)


def _bar(
    whole: Any,
    pen: Any,
    corner: tuple[float, float],
    room: float,
    layer: Layer,
    shown: tuple[float, float],
    unit: str,
    ink: tuple[int, int, int],
) -> None:
    left, top = int(corner[0]), int(corner[1])
    pen.text((left, top + 4), _fitting(layer.title, _font(13), _BAR - 16), fill=ink, font=_font(13))
    if unit:
        pen.text((left, top + 20), _fitting(unit, _font(11), _BAR - 16), fill=ink, font=_font(11))
    high, low = top + 44, int(top + room - 18)
    if low - high < 20:
        return
    rows = colour_map(layer.colours, low - high)[::-1, :3]
    strip = np.repeat(np.rint(rows * 255).astype(np.uint8)[:, None], 16, axis=1)
    whole.paste(Pillow.fromarray(strip), (left, high))
    pen.rectangle((left, high, left + 15, low - 1), outline=ink)
    for value, text in ticks(*shown, most=min(_TICKS, max(1, (low - high) // 24))):
        share = (value - shown[0]) / ((shown[1] - shown[0]) or 1.0)
        y = low - 1 - share * (low - 1 - high)
        pen.line((left + 16, y, left + 20, y), fill=ink)
        pen.text((left + 24, y), text, fill=ink, font=_font(12), anchor="lm")


def ticks(low: float, high: float, most: int = _TICKS) -> list[tuple[float, str]]:
    """Round values within a range and their texts, with as many digits as tell them apart."""
    if low == high:
        return [(low, f"{low:g}")]
    from matplotlib.ticker import MaxNLocator

    values = [float(v) for v in MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)]
    room = 1e-9 * (high - low)
    inside = [0.0 if abs(v) < room else v for v in values if low - room <= v <= high + room]
    digits = 3
    while digits < 12 and len({f"{v:.{digits}g}" for v in inside}) < len(inside):
        digits += 1
    return [(v, f"{v:.{digits}g}") for v in inside]


def _fitting(text: str, font: Any, room: float) -> str:
    """As much of a text as there is room for."""
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(text + "…") > room:
        text = text[:-1]
    return text + "…" if text else ""


@cache
def _font(size: int) -> Any:
    """DejaVu Sans, which matplotlib brings."""
    found = find_spec("matplotlib")
    if found is not None and found.origin:
        file = Path(found.origin).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf"
        if file.is_file():
            return ImageFont.truetype(str(file), size)
    return ImageFont.load_default(size)
