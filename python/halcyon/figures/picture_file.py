"""A figure as a file of its own, .svg or .png, in the colours of a light page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib.colors import get_named_colors_mapping
from matplotlib.figure import Figure

from halcyon.figures.picture import VARIABLES, drawing
from halcyon.whole_file import whole_file

LIGHT = {
    "ink": "#1b1f24", "muted": "#6a737d", "grid": "#e1e5ea", "panel": "#f6f7f9", "compute": "#b9c4d0",
    "visible": "#d1495b", "write": "#0b7285", "compress": "#6c56b3", "other": "#c98a1b", "wait": "#8d99a6",
    "idle": "#dde5e4", "series-1": "#0b67b2", "series-2": "#c2410c", "series-3": "#0f7b5f", "series-4": "#9d3f97",
    "series-5": "#8a6d00", "series-6": "#3f4a59", "series-7": "#2a93c9", "series-8": "#d0567a",
}  # fmt: skip
"""The variables of a page without a dark theme; report.css gives them the same values."""
_DPI = 150.0


def save_picture(draw: Callable[[], Figure], path: Path, dpi: float = _DPI) -> None:
    """Draws a figure, with the colours of halcyon.figures.picture, and saves it in the format that the path ends in.
    `dpi`: of a .png. Same figure, same file.

    HalcyonSystemError: it cannot be written.
    """
    with whole_file(path) as hidden, drawing(), _light_page():
        kind = path.suffix.lower().removeprefix(".")
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        draw().savefig(hidden, format=kind, dpi=dpi, metadata=metadata)


@contextmanager
def _light_page() -> Iterator[None]:
    """Within it, matplotlib sees each placeholder as the name of a colour."""
    colours = get_named_colors_mapping()
    try:
        for placeholder, name in VARIABLES.items():
            colours[placeholder] = LIGHT[name]
        with matplotlib.rc_context({"figure.facecolor": "white"}):
            yield
    finally:
        for placeholder in VARIABLES:
            del colours[placeholder]
