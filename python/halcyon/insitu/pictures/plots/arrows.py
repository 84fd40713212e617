"""Arrows on a plane, and arrows or balls in space."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersCore import vtkGlyph3D, vtkProbeFilter
from vtkmodules.vtkFiltersSources import vtkArrowSource, vtkSphereSource

from halcyon.insitu.pictures.plots.drawing import Drawing, appended
from halcyon.insitu.pictures.plots.surfaces import plane_of
from halcyon.insitu.pictures.vtk_data import VALUE, VECTOR

_COUNT = 400


def quiver(drawing: Drawing) -> list[Any]:
    """At the points of an even lattice on the plane, or on a flat mesh: the same ones on every node."""
    seeds, step = lattice(drawing, on_plane=True)
    return _of_vectors(drawing, _probed(drawing, seeds), step)


def glyphs(drawing: Drawing) -> list[Any]:
    """Arrows, or balls whose size and colour are the value."""
    if drawing.pieces[0].mesh_type == "points":
        found = [drawing.data_of(piece) for piece in drawing.pieces]
        points = sum(data.GetNumberOfPoints() for data in found)
        step = drawing.survey.scale / max(points, 8) ** (1 / 3)
        if drawing.layer.count is not None and points > drawing.layer.count:
            found = [_every(data, -(-points // drawing.layer.count)) for data in found]
    else:
        seeds, step = lattice(drawing, on_plane=drawing.layer.plane is not None)
        found = _probed(drawing, seeds)
    if drawing.layer.vector:
        return _of_vectors(drawing, found, step)
    ball = vtkSphereSource()
    ball.SetRadius(0.5)
    ball.SetThetaResolution(12)
    ball.SetPhiResolution(10)
    low, high = drawing.found or (0.0, 0.0)
    for data in found:
        values = vtk_to_numpy(data.GetPointData().GetArray(VALUE))
        shares = np.clip((values - low) / ((high - low) or 1.0), 0, 1)
        _size_by(data, np.asarray(0.25 + 0.65 * shares, np.float32))
    return drawing.actors(_placed(drawing, found, ball, step, turn=False))


def lattice(drawing: Drawing, *, on_plane: bool, count: int = _COUNT) -> tuple[NDArray[np.float64], float]:
    """Points all over the whole mesh, about as many as the layer asks for, and their distance."""
    bounds = drawing.survey.bounds
    assert bounds is not None
    wanted = drawing.layer.count or count
    sizes = bounds[:, 1] - bounds[:, 0]
    middle = bounds.mean(axis=1)
    flat = all(drawing.is_flat(piece) for piece in drawing.pieces)
    if flat and sizes[2] == 0:
        normal, middle = np.array([0.0, 0.0, 1.0]), bounds[:, 0]
    elif on_plane and not flat:
        plane = plane_of(drawing)
        normal = np.asarray(plane.GetNormal())
        middle = middle - ((middle - np.asarray(plane.GetOrigin())) @ normal) * normal
    else:
        normal = np.zeros(3)
    if not normal.any():
        step = float(np.prod(sizes[sizes > 0]) / wanted) ** (1 / max(1, int((sizes > 0).sum())))
        lines = [
            low + (np.arange(max(1, int(size / step))) + 0.5) * size / max(1, int(size / step))
            for (low, _), size in zip(bounds, sizes, strict=True)
        ]
        return np.array(np.meshgrid(*lines, indexing="ij")).reshape(3, -1).T, step
    first = np.cross(normal, [0.0, 0.0, 1.0])
    if np.linalg.norm(first) < 1e-9:
        first = np.array([1.0, 0.0, 0.0])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    corners = np.array(np.meshgrid(*bounds)).reshape(3, -1).T - middle
    spans = np.array([[(corners @ axis).min(), (corners @ axis).max()] for axis in (first, second)])
    step = float(np.sqrt(np.prod(spans[:, 1] - spans[:, 0]) / wanted))
    along = [np.arange(low + step / 2, high, step) for low, high in spans]
    a, b = (grid.ravel() for grid in np.meshgrid(*along, indexing="ij"))
    return middle + a[:, None] * first + b[:, None] * second, step


def seeds_data(points: NDArray[np.float64]) -> Any:
    """As vtkPolyData."""
    held = vtkPoints()
    held.SetData(numpy_to_vtk(np.ascontiguousarray(points), deep=True))
    data = vtkPolyData()
    data.SetPoints(held)
    return data


def _probed(drawing: Drawing, seeds: NDArray[np.float64]) -> list[Any]:
    """The seeds that lie in each piece, with its values there."""
    found = []
    for piece in drawing.pieces:
        low, high = (piece.bounds * np.asarray(drawing.scale)[:, None]).T
        inside = seeds[((seeds >= low) & (seeds <= high)).all(axis=1)]
        if not len(inside):
            continue
        probe = vtkProbeFilter()
        probe.SetInputData(seeds_data(inside))
        probe.SetSourceData(drawing.data_of(piece))
        probe.Update()
        valid = vtk_to_numpy(probe.GetValidPoints())
        if len(valid):
            found.append(_chosen(probe.GetOutput(), valid))
    return found


def _every(data: Any, stride: int) -> Any:
    return _chosen(data, np.arange(0, data.GetNumberOfPoints(), stride))


def _chosen(data: Any, which: NDArray[Any]) -> Any:
    chosen = seeds_data(vtk_to_numpy(data.GetPoints().GetData())[which].astype(np.float64))
    for name in (VALUE, VECTOR):
        array = data.GetPointData().GetArray(name)
        if array:
            taken = numpy_to_vtk(np.ascontiguousarray(vtk_to_numpy(array)[which]), deep=True)
            taken.SetName(name)
            chosen.GetPointData().AddArray(taken)
    return chosen


def _size_by(data: Any, sizes: NDArray[np.float32]) -> None:
    held = numpy_to_vtk(np.ascontiguousarray(sizes), deep=True)
    held.SetName("size")
    data.GetPointData().AddArray(held)


def _of_vectors(drawing: Drawing, found: list[Any], step: float) -> list[Any]:
    """The longest vector of all nodes is a little longer than the distance of two arrows."""
    arrow = vtkArrowSource()
    arrow.SetTipLength(0.4)
    arrow.SetTipRadius(0.14 * drawing.layer.width)
    arrow.SetShaftRadius(0.045 * drawing.layer.width)
    arrow.SetTipResolution(10)
    arrow.SetShaftResolution(8)
    longest = drawing.longest
    for data in found:
        lengths = np.linalg.norm(vtk_to_numpy(data.GetPointData().GetArray(VECTOR)), axis=1)
        _size_by(data, np.asarray(lengths / (longest or 1.0), np.float32))
    return drawing.actors(_placed(drawing, found, arrow, 1.3 * step, turn=True))


def _placed(drawing: Drawing, found: list[Any], shape: Any, length: float, *, turn: bool) -> list[Any]:
    if not found:
        return []
    glyph = vtkGlyph3D()
    glyph.SetInputData(appended(found))
    glyph.SetSourceConnection(shape.GetOutputPort())
    glyph.SetInputArrayToProcess(0, 0, 0, 0, "size")
    glyph.SetScaleModeToScaleByScalar()
    glyph.SetScaleFactor(length * drawing.layer.length)
    glyph.SetInputArrayToProcess(3, 0, 0, 0, VALUE)
    glyph.SetColorModeToColorByScalar()
    glyph.SetOrient(turn)
    if turn:
        glyph.SetInputArrayToProcess(1, 0, 0, 0, VECTOR)
        glyph.SetVectorModeToUseVector()
    glyph.Update()
    return [glyph.GetOutput()]
