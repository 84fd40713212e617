"""Pictures as files: PNG, animations, and a page that shows them all."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from halcyon.errors import UsageError
from halcyon.insitu.pictures.regions import Saving
from halcyon.whole_file import whole_file

Pixels = NDArray[np.uint8]
ANIMATIONS = {".gif": "GIF", ".apng": "PNG", ".webp": "WEBP"}
ENDINGS = (".png", *ANIMATIONS, ".html")
_MS_PER_PICTURE = 150
_TYPES = {".png": "image/png", ".gif": "image/gif", ".apng": "image/apng", ".webp": "image/webp"}


@dataclass(frozen=True)
class Shown:
    """One picture of one iteration."""

    name: str
    iteration: int
    pixels: Pixels
    seconds: float
    saving: Saving | None = None
    open_seams: int = 0


def save_png(pixels: Pixels, path: Path) -> None:
    """Same pixels, same file. HalcyonSystemError: it cannot be written."""
    with whole_file(path) as hidden:
        hidden.write_bytes(png_of(pixels))


def png_of(pixels: Pixels) -> bytes:
    out = BytesIO()
    Pillow.fromarray(pixels).save(out, "PNG", optimize=True)
    return out.getvalue()


def save_animation(pictures: Sequence[Pixels], path: Path, ms_per_picture: int = _MS_PER_PICTURE) -> None:
    """In the format that the path ends in; it begins again when it ends."""
    with whole_file(path) as hidden:
        hidden.write_bytes(animation_of(pictures, path.suffix.lower(), ms_per_picture))


def animation_of(pictures: Sequence[Pixels], ending: str, ms_per_picture: int = _MS_PER_PICTURE) -> bytes:
    """UsageError: an animation never ends so, or there is no picture."""
    if ending not in ANIMATIONS:
        raise UsageError(f"'{ending}' is no animation; expected one of {', '.join(ANIMATIONS)}")
    if not pictures:
        raise UsageError("no pictures to show one after the other")
    first, *others = (Pillow.fromarray(pixels) for pixels in pictures)
    more: dict[str, Any] = {"lossless": False, "quality": 85, "method": 4} if ending == ".webp" else {}
    out = BytesIO()
    first.save(out, ANIMATIONS[ending], save_all=True, append_images=others, duration=ms_per_picture, loop=0, **more)
    return out.getvalue()


def save_gallery(title: str, shown: Sequence[Shown], path: Path) -> int:
    """One page that needs nothing but a browser; returns its size in bytes."""
    with whole_file(path) as hidden, hidden.open("wb") as file:
        return file.write(gallery(title, shown).encode())


def gallery(title: str, shown: Sequence[Shown]) -> str:
    """The page: of each picture an animation over its iterations, then each iteration."""
    from halcyon import __version__, quantities
    from halcyon.printed.html_pages import report_style, templates

    names = list(dict.fromkeys(picture.name for picture in shown))
    groups = [(name, [picture for picture in shown if picture.name == name]) for name in names]
    moving = {
        name: _data_uri(animation_of([picture.pixels for picture in of_name], ".webp"), ".webp")
        for name, of_name in groups
        if len(of_name) > 1
    }
    return (
        templates("insitu/pictures")
        .get_template("gallery.html.j2")
        .render(
            title=title,
            style=report_style(),
            version=__version__,
            groups=groups,
            moving=moving,
            still=lambda picture: _data_uri(png_of(picture.pixels), ".png"),
            q=quantities,
        )
    )


def _data_uri(data: bytes, ending: str) -> str:
    return f"data:{_TYPES[ending]};base64,{base64.b64encode(data).decode()}"
