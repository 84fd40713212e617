"""A figure as SVG that takes its colours from the page around it, so that it follows light, dark and paper."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

# matplotlib draws with these colours; inline() replaces each by the page's CSS variable of that name.
INK, MUTED, GRID, PANEL = "#010a01", "#010a02", "#010a03", "#010a04"
COMPUTE, VISIBLE, WRITE, COMPRESS, OTHER, WAIT, IDLE = (f"#010b0{i}" for i in range(1, 8))
SERIES = tuple(f"#010c0{i}" for i in range(1, 9))

VARIABLES = {
    INK: "ink", MUTED: "muted", GRID: "grid", PANEL: "panel", COMPUTE: "compute", VISIBLE: "visible",
    WRITE: "write", COMPRESS: "compress", OTHER: "other", WAIT: "wait", IDLE: "idle",
    **{colour: f"series-{i}" for i, colour in enumerate(SERIES, 1)},
}  # fmt: skip

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "halcyon",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "path.simplify": False,
}

WIDTH_IN = 10.4  # of a full-width figure

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


@dataclass(frozen=True)
class Picture:
    """A drawn figure. The title says the finding, the caption what to see."""

    name: str
    title: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Absent:
    """A figure that these runs give no data for."""

    name: str
    reason: str


@contextmanager
def drawing() -> Iterator[None]:
    """Within it, matplotlib draws in Halcyon's style, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def inline(figure: Figure, name: str, description: str) -> str:
    """The figure as an <svg> element for a page. Same figure, same text; ids begin with `name`."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    root = ElementTree.fromstring(out.getvalue())
    _remove(root, f"{{{_SVG}}}metadata")
    _remove(root, f"{{{_SVG}}}style")  # it would restyle the page; report.css has it for figures alone
    for element in root.iter():
        _make_ids_unique(element, name)
        for key in ("style", "fill", "stroke"):
            if key in element.attrib:
                element.set(key, _themed(element.attrib[key]))
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("class", "plot")
    root.set("role", "img")
    root.set("aria-label", description)
    return ElementTree.tostring(root, encoding="unicode")


def _remove(root: ElementTree.Element, tag: str) -> None:
    for parent in list(root.iter()):
        for child in parent.findall(tag):
            parent.remove(child)


def _make_ids_unique(element: ElementTree.Element, name: str) -> None:
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.attrib['id']}")
    href = element.attrib.get(f"{{{_XLINK}}}href", "")
    if href.startswith("#"):
        element.set(f"{{{_XLINK}}}href", f"#{name}-{href[1:]}")
    for key in ("clip-path", "style", "fill"):
        if key in element.attrib:
            element.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", element.attrib[key]))


def _themed(style: str) -> str:
    for colour, variable in VARIABLES.items():
        style = style.replace(colour, f"var(--{variable})")
    return style
