"""How each kind of layer becomes props of VTK: one function of a Drawing each."""

from collections.abc import Callable
from typing import Any

from halcyon.errors import UsageError
from halcyon.insitu.pictures.plots.arrows import glyphs, quiver
from halcyon.insitu.pictures.plots.drawing import Drawing
from halcyon.insitu.pictures.plots.lines import streamlines
from halcyon.insitu.pictures.plots.surfaces import contour, iso_surfaces, section
from halcyon.insitu.pictures.plots.volumes import volume

_PLOTS: dict[str, Callable[[Drawing], list[Any]]] = {
    "slice": section,
    "contour": contour,
    "quiver": quiver,
    "iso-surface": iso_surfaces,
    "volume": volume,
    "glyph": glyphs,
    "streamlines": streamlines,
}


def props_of(drawing: Drawing) -> list[Any]:
    """What VTK draws for a layer; nothing where there are no values."""
    layer, pieces = drawing.layer, drawing.pieces
    if not pieces or drawing.found is None:
        return []
    if pieces[0].mesh_type == "points" and layer.kind != "glyph":
        raise UsageError(f"'{layer.title}' lives on a mesh of points, of which only kind: glyph makes a picture")
    flat = all(drawing.is_flat(piece) for piece in pieces)
    if flat and layer.kind in ("iso-surface", "volume"):
        raise UsageError(
            f"'{layer.title}' lives on a flat mesh: kind: {layer.kind} needs three dimensions; try contour"
        )
    return _PLOTS[layer.kind](drawing)
