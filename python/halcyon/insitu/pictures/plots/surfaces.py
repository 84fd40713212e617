"""Slices, contour lines and iso-surfaces."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkPlane
from vtkmodules.vtkFiltersCore import vtkContourFilter, vtkCutter
from vtkmodules.vtkFiltersGeometry import vtkGeometryFilter

from halcyon.insitu.pictures.pieces import Piece
from halcyon.insitu.pictures.plots.drawing import Drawing
from halcyon.insitu.pictures.vtk_data import VALUE


def section(drawing: Drawing) -> list[Any]:
    """A plane through a body, or all of a flat mesh."""
    return drawing.actors([cut for _, cut in sections(drawing)], lit=False)


def contour(drawing: Drawing) -> list[Any]:
    """Lines of equal values on such a plane."""
    lines = []
    for _, cut in sections(drawing):
        if drawing.levels and cut.GetNumberOfPoints():
            lines.append(_at_levels(cut, drawing.levels))
    return drawing.actors(lines, lit=False)


def iso_surfaces(drawing: Drawing) -> list[Any]:
    surfaces = []
    for piece, levels in drawing.with_levels():
        surfaces.append(_at_levels(drawing.data_of(piece), levels))
    return drawing.actors(surfaces)


def sections(drawing: Drawing) -> Iterator[tuple[Piece, Any]]:
    """Of each piece that the plane runs through."""
    plane = None
    for piece in drawing.pieces:
        if drawing.is_flat(piece):
            surface = vtkGeometryFilter()
            surface.SetInputData(drawing.data_of(piece))
            surface.Update()
            yield piece, surface.GetOutput()
            continue
        plane = plane or plane_of(drawing)
        if not _meets(plane, piece.bounds * np.asarray(drawing.scale)[:, None]):
            continue
        cutter = vtkCutter()
        cutter.SetCutFunction(plane)
        cutter.SetInputData(drawing.data_of(piece))
        cutter.Update()
        yield piece, cutter.GetOutput()


def plane_of(drawing: Drawing) -> Any:
    """The layer's plane. Where it is given as a share, one at an end of the mesh lies just inside."""
    section, bounds, scale = drawing.layer.section, drawing.survey.bounds, np.asarray(drawing.scale)
    assert bounds is not None
    normal = np.asarray(section.normal) / scale
    normal /= np.linalg.norm(normal)
    corners = np.array(np.meshgrid(*bounds)).reshape(3, -1).T @ normal
    low, high = float(corners.min()), float(corners.max())
    if section.at is not None:
        through = np.asarray(section.normal) * section.at * scale
        where = float(through @ normal)
    else:
        where = low + section.share * (high - low)
    inside = 1e-6 * (high - low)
    where = float(np.clip(where, low + inside, high - inside)) if low <= where <= high else where
    plane = vtkPlane()
    plane.SetNormal(*normal)
    plane.SetOrigin(*(normal * where))
    return plane


def _meets(plane: Any, bounds: Any) -> bool:
    corners = np.array(np.meshgrid(*bounds)).reshape(3, -1).T
    sides = (corners - np.asarray(plane.GetOrigin())) @ np.asarray(plane.GetNormal())
    return bool(sides.min() <= 0 <= sides.max())


def _at_levels(data: Any, levels: list[float]) -> Any:
    contours = vtkContourFilter()
    contours.SetInputData(data)
    contours.SetInputArrayToProcess(0, 0, 0, 0, VALUE)
    contours.SetNumberOfContours(len(levels))
    for i, level in enumerate(levels):
        contours.SetValue(i, level)
    contours.ComputeScalarsOn()
    contours.Update()
    return contours.GetOutput()
