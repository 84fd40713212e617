"""Streamlines."""

from typing import Any

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet
from vtkmodules.vtkFiltersCore import vtkTubeFilter
from vtkmodules.vtkFiltersFlowPaths import vtkStreamTracer

from halcyon.insitu.pictures.plots.arrows import lattice, seeds_data
from halcyon.insitu.pictures.plots.drawing import Drawing
from halcyon.insitu.pictures.vtk_data import VALUE, VECTOR

_COUNT = 60
_STEPS = 2000


def streamlines(drawing: Drawing) -> list[Any]:
    """Both ways from an even lattice of seeds, as far as the data of this node goes."""
    seeds, _ = lattice(drawing, on_plane=drawing.layer.plane is not None, count=_COUNT)
    boxes = [(piece.bounds * np.asarray(drawing.scale)[:, None]).T for piece in drawing.pieces]
    inside = [((seeds >= low) & (seeds <= high)).all(axis=1) for low, high in boxes]
    seeds = seeds[np.any(inside, axis=0)]
    if not len(seeds):
        return []
    flow = vtkMultiBlockDataSet()
    for i, piece in enumerate(drawing.pieces):
        flow.SetBlock(i, drawing.data_of(piece))
    tracer = vtkStreamTracer()
    tracer.SetInputDataObject(flow)
    tracer.SetSourceData(seeds_data(seeds))
    tracer.SetInputArrayToProcess(0, 0, 0, 0, VECTOR)
    tracer.SetIntegratorTypeToRungeKutta45()
    tracer.SetIntegrationDirectionToBoth()
    tracer.SetIntegrationStepUnit(vtkStreamTracer.CELL_LENGTH_UNIT)
    tracer.SetInitialIntegrationStep(0.4)
    tracer.SetMaximumPropagation(drawing.layer.length * drawing.survey.scale)
    tracer.SetMaximumNumberOfSteps(_STEPS)
    tracer.SetComputeVorticity(False)
    tracer.Update()
    lines = tracer.GetOutput()
    if not lines.GetNumberOfCells():
        return []
    lines.GetPointData().SetActiveScalars(VALUE)
    tube = vtkTubeFilter()
    tube.SetInputData(lines)
    tube.SetRadius(0.0022 * drawing.layer.width * drawing.survey.scale)
    tube.SetNumberOfSides(8)
    tube.SetVaryRadiusToVaryRadiusOff()
    tube.Update()
    return drawing.actors([tube.GetOutput()])
