"""Pieces as data sets of VTK. Arrays are shared with NumPy wherever both lay them out alike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import (
    vtkCellArray,
    vtkDataObject,
    vtkImageData,
    vtkPolyData,
    vtkRectilinearGrid,
    vtkStructuredGrid,
    vtkUnstructuredGrid,
)
from vtkmodules.vtkFiltersCore import vtkThreshold

from halcyon.insitu.pictures.description import Layer, Vector
from halcyon.insitu.pictures.pieces import Piece
from halcyon.insitu.pictures.survey import shown_values

Array = NDArray[Any]

VALUE, VECTOR = "value", "vector"
"""Names of the arrays of a data set: what the colours show, and what arrows and lines follow."""
_EVEN = 1e-5
"""Of a step: what steps of an evenly spaced grid may differ by."""


def data_set(piece: Piece, layer: Layer, scale: Vector = (1.0, 1.0, 1.0)) -> Any:
    """A vtkDataSet with the values that a layer shows. Where values are NaN or infinite there are no cells."""
    values = shown_values(layer, piece.fields)
    made = _geometry(piece, scale)
    attributes = made.GetPointData() if piece.centering == "node" else made.GetCellData()
    attributes.SetScalars(_array(_plain(values).reshape(-1), VALUE))
    if layer.vector:
        # As the picture stretches the mesh, so it does what moves along it.
        parts = [np.ravel(piece.fields[name]) * s for name, s in zip(layer.vector, scale, strict=False)]
        parts += [np.zeros_like(parts[0])] * (3 - len(parts))
        attributes.SetVectors(_array(np.stack(parts, axis=1), VECTOR))
    return made if _all_finite(values) else _without_holes(made, values, piece)


def even_steps(piece: Piece) -> tuple[float, ...] | None:
    """The steps of a rectilinear mesh whose coordinates grow evenly, x first; else None."""
    if piece.mesh_type != "rectilinear":
        return None
    found = []
    for line in piece.coordinates:
        if len(line) == 1:
            found.append(1.0)
            continue
        steps = np.diff(line.astype(np.float64))
        mean = float(steps.mean())
        if mean <= 0 or np.abs(steps - mean).max() > _EVEN * mean:
            return None
        found.append(mean)
    return tuple(found)


def _geometry(piece: Piece, scale: Vector) -> Any:
    if piece.mesh_type == "rectilinear":
        return _rectilinear(piece, scale)
    points = vtkPoints()
    columns = [np.ravel(values) * s for values, s in zip(piece.coordinates, scale, strict=False)]
    columns += [np.zeros_like(columns[0])] * (3 - len(columns))
    points.SetData(_array(np.stack([_real(column) for column in columns], axis=1)))
    if piece.mesh_type == "curvilinear":
        grid = vtkStructuredGrid()
        grid.SetDimensions(*_three(piece.coordinates[0].shape[::-1]))
        grid.SetPoints(points)
        return grid
    if piece.mesh_type == "points":
        cloud = vtkPolyData()
        cloud.SetPoints(points)
        cloud.SetVerts(_cell_array(np.arange(len(columns[0]) + 1), np.arange(len(columns[0]))))
        return cloud
    assert piece.cells is not None
    mesh = vtkUnstructuredGrid()
    mesh.SetPoints(points)
    mesh.SetCells(_array(piece.cells.types), _cell_array(piece.cells.offsets, piece.cells.connectivity))
    return mesh


def _rectilinear(piece: Piece, scale: Vector) -> Any:
    counts = _three([len(line) for line in piece.coordinates])
    steps = even_steps(piece)
    if steps is not None:
        image = vtkImageData()
        image.SetDimensions(*counts)
        image.SetOrigin(*_three([float(line[0]) * s for line, s in zip(piece.coordinates, scale, strict=False)], 0.0))
        image.SetSpacing(*_three([step * s for step, s in zip(steps, scale, strict=False)], 1.0))
        return image
    grid = vtkRectilinearGrid()
    grid.SetDimensions(*counts)
    lines = [line if s == 1 else line * s for line, s in zip(piece.coordinates, scale, strict=False)]
    lines += [np.zeros(1)] * (3 - len(lines))
    for line, put in zip(lines, (grid.SetXCoordinates, grid.SetYCoordinates, grid.SetZCoordinates), strict=True):
        put(_array(line))
    return grid


def _three(values: Any, fill: Any = 1) -> tuple[Any, Any, Any]:
    x, y, z = [*values, fill, fill][:3]
    return x, y, z


def _cell_array(offsets: Array, connectivity: Array) -> Any:
    cells = vtkCellArray()
    cells.SetData(_array(offsets), _array(connectivity))
    return cells


def _array(values: Array, name: str = "") -> Any:
    """Of VTK, with the memory of `values` where it is in one piece."""
    made = numpy_to_vtk(np.ascontiguousarray(values), deep=False)
    if name:
        made.SetName(name)
    return made


def _plain(values: Array) -> Array:
    """Of a type that VTK has."""
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    if values.dtype == np.float16:
        return values.astype(np.float32)
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _real(values: Array) -> Array:
    return _plain(values) if values.dtype.kind == "f" else values.astype(np.float64)


def _all_finite(values: Array) -> bool:
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def _without_holes(made: Any, values: Array, piece: Piece) -> Any:
    attributes = made.GetPointData() if piece.centering == "node" else made.GetCellData()
    attributes.AddArray(_array(np.isfinite(values).reshape(-1).view(np.uint8), "known"))
    where = (
        vtkDataObject.FIELD_ASSOCIATION_POINTS if piece.centering == "node" else vtkDataObject.FIELD_ASSOCIATION_CELLS
    )
    cut = vtkThreshold()
    cut.SetInputData(made)
    cut.SetInputArrayToProcess(0, 0, 0, where, "known")
    cut.SetUpperThreshold(0.5)
    cut.SetThresholdFunction(vtkThreshold.THRESHOLD_UPPER)
    cut.SetAllScalars(True)
    cut.Update()
    return cut.GetOutput()
