"""What a kind of layer is drawn from, and the actors that most kinds need."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  what mappers and actors are made of
from vtkmodules.vtkFiltersCore import vtkAppendPolyData, vtkCellDataToPointData
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

from halcyon.insitu.pictures.colours import colour, lookup_table
from halcyon.insitu.pictures.description import Layer, Vector
from halcyon.insitu.pictures.pieces import Piece
from halcyon.insitu.pictures.survey import Range, Survey, levels_of, shown_values
from halcyon.insitu.pictures.vtk_data import VALUE, data_set

_FLAT_CELLS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 22, 23, 28}
"""VTK's types of cells that are no bodies."""


@dataclass(frozen=True)
class Drawing:
    layer: Layer
    pieces: list[Piece]
    found: Range | None
    """Of the values, over all nodes."""
    survey: Survey
    scale: Vector
    pixels: int
    """Drawn for each one of the picture, in each direction."""
    longest: float = 0.0
    """Vector, over all nodes."""

    @property
    def levels(self) -> list[float]:
        return levels_of(self.layer, self.found)

    def data_of(self, piece: Piece) -> Any:
        """With values at points, but for slices: of unstructured cells they are averaged."""
        made = data_set(piece, self.layer, self.scale)
        if piece.centering == "node" or self.layer.kind == "slice":
            return made
        averaged = vtkCellDataToPointData()
        averaged.SetInputData(made)
        averaged.Update()
        return averaged.GetOutput()

    def is_flat(self, piece: Piece) -> bool:
        if piece.mesh_type == "points":
            return False
        if piece.mesh_type == "unstructured":
            assert piece.cells is not None
            return set(np.unique(piece.cells.types).tolist()) <= _FLAT_CELLS
        shape = next(iter(piece.fields.values())).shape
        return len(shape) == 2 or 1 in shape

    def with_levels(self) -> Iterator[tuple[Piece, list[float]]]:
        """The pieces that a level runs through."""
        for piece in self.pieces:
            values = shown_values(self.layer, piece.fields)
            low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
            inside = [level for level in self.levels if low <= level <= high]
            if inside:
                yield piece, inside

    def actors(self, surfaces: list[Any], *, lit: bool = True) -> list[Any]:
        """One of all the surfaces and lines together, in the layer's colours."""
        filled = [surface for surface in surfaces if surface.GetNumberOfCells()]
        if not filled:
            return []
        mapper = vtkPolyDataMapper()
        mapper.SetInputData(appended(filled))
        actor = vtkActor()
        actor.SetMapper(mapper)
        look = actor.GetProperty()
        self._colour(mapper, look)
        look.SetOpacity(self.opacity)
        look.SetLighting(lit)
        if lit:  # otherwise colours are exactly those of the colour bar
            look.SetAmbient(0.25)
            look.SetDiffuse(0.85)
        look.SetSpecular(0.12 if lit else 0.0)
        look.SetSpecularPower(20)
        look.SetLineWidth(1.5 * self.layer.width * self.pixels)
        return [actor]

    @property
    def opacity(self) -> float:
        """Of kinds that have only one."""
        said = self.layer.opacity
        return said if isinstance(said, float | int) else max(said)

    def _colour(self, mapper: Any, look: Any) -> None:
        if self.layer.colour:
            mapper.SetScalarVisibility(False)
            look.SetColor(*colour(self.layer.colour))
            return
        low, high = self.found or (0.0, 1.0)
        mapper.SetLookupTable(lookup_table(self.layer.colours, low, high))
        mapper.SetUseLookupTableScalarRange(True)
        mapper.SetScalarVisibility(True)
        mapper.SetInterpolateScalarsBeforeMapping(True)
        if mapper.GetInput().GetPointData().GetArray(VALUE):
            mapper.SetScalarModeToUsePointFieldData()
        else:
            mapper.SetScalarModeToUseCellFieldData()
        mapper.SelectColorArray(VALUE)


def appended(surfaces: list[Any]) -> Any:
    """Several vtkPolyData as one."""
    if len(surfaces) == 1:
        return surfaces[0]
    together = vtkAppendPolyData()
    for surface in surfaces:
        together.AddInputData(surface)
    together.Update()
    return together.GetOutput()
