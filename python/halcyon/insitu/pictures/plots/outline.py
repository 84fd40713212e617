"""The edges of the whole mesh, so that one sees where things are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

from halcyon.insitu.pictures.colours import Colour

_NEAR = 1e-6
"""Of the diagonal: within this a node's part reaches an edge of the whole."""


def edges_of(whole: NDArray[Any], part: NDArray[Any]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """The pieces of the twelve edges of a box that a box within it has; the parts of all nodes make all edges."""
    near = _NEAR * float(np.linalg.norm(whole[:, 1] - whole[:, 0]))
    found = []
    for axis in range(3):
        others = [d for d in range(3) if d != axis]
        for sides in np.ndindex(2, 2):
            if any(abs(part[d, side] - whole[d, side]) > near for d, side in zip(others, sides, strict=True)):
                continue
            begin, end = np.empty(3), np.empty(3)
            for d, side in zip(others, sides, strict=True):
                begin[d] = end[d] = whole[d, side]
            begin[axis], end[axis] = part[axis]
            found.append((begin, end))
    return found


def outline(whole: NDArray[Any], part: NDArray[Any], ink: Colour, width: float) -> list[Any]:
    points, lines = vtkPoints(), vtkCellArray()
    for begin, end in edges_of(whole, part):
        lines.InsertNextCell(2)
        for point in (begin, end):
            lines.InsertCellPoint(points.InsertNextPoint(*point))
    data = vtkPolyData()
    data.SetPoints(points)
    data.SetLines(lines)
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(data)
    actor = vtkActor()
    actor.SetMapper(mapper)
    look = actor.GetProperty()
    look.SetColor(*ink)
    look.SetLighting(False)
    look.SetLineWidth(width)
    return [actor]
