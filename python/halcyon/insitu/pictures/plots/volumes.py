"""Volume rendering, by rays on the processor."""

from dataclasses import replace
from typing import Any

import numpy as np
import vtkmodules.vtkRenderingVolumeOpenGL2  # noqa: F401  what puts the rays' image into the window
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkMultiBlockDataSet, vtkPiecewiseFunction
from vtkmodules.vtkFiltersCore import vtkResampleToImage
from vtkmodules.vtkRenderingCore import vtkColorTransferFunction, vtkVolume, vtkVolumeProperty
from vtkmodules.vtkRenderingVolume import vtkFixedPointVolumeRayCastMapper

from halcyon.insitu.pictures.colours import colour, colour_map
from halcyon.insitu.pictures.plots.drawing import Drawing
from halcyon.insitu.pictures.survey import shown_values
from halcyon.insitu.pictures.vtk_data import VALUE, data_set

_MOST = 512
"""Points in each direction of a volume that is made of a mesh without even steps."""
_THICKNESS = 0.03
"""Of the diagonal of the whole: where a value has its opacity."""


def volume(drawing: Drawing) -> list[Any]:
    image = _image(drawing)
    mapper = vtkFixedPointVolumeRayCastMapper()
    mapper.SetInputData(image)
    mapper.SetAutoAdjustSampleDistances(False)
    mapper.SetSampleDistance(
        float(min(step for step, n in zip(image.GetSpacing(), image.GetDimensions(), strict=True) if n > 1)) / 2
    )
    mapper.SetImageSampleDistance(1.0)
    look = vtkVolumeProperty()
    look.SetColor(_colours(drawing))
    look.SetScalarOpacity(_opacity(drawing))
    look.SetScalarOpacityUnitDistance(_THICKNESS * drawing.survey.scale)
    look.SetInterpolationTypeToLinear()
    look.ShadeOff()
    made = vtkVolume()
    made.SetMapper(mapper)
    made.SetProperty(look)
    return [made]


def _image(drawing: Drawing) -> Any:
    """Evenly spaced values; those that are not known are the lowest."""
    low = (drawing.found or (0.0, 1.0))[0]
    if len(drawing.pieces) == 1:
        (piece,) = drawing.pieces
        values = shown_values(drawing.layer, piece.fields)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            values = np.where(np.isfinite(values), values, low)
        filled = drawing.layer.variable or drawing.layer.title
        plain = replace(piece, fields={filled: values})
        data = data_set(plain, replace(drawing.layer, variable=filled, vector=()), drawing.scale)
        if data.IsA("vtkImageData"):
            return data
    together = vtkMultiBlockDataSet()
    for i, piece in enumerate(drawing.pieces):
        together.SetBlock(i, drawing.data_of(piece))
    boxes = np.stack([piece.bounds * np.asarray(drawing.scale)[:, None] for piece in drawing.pieces])
    box = np.stack([boxes[:, :, 0].min(axis=0), boxes[:, :, 1].max(axis=0)], axis=1)
    sizes = box[:, 1] - box[:, 0]
    points = sum(next(iter(piece.fields.values())).size for piece in drawing.pieces)
    step = float(np.prod(sizes) / max(points, 8)) ** (1 / 3) or 1.0
    counts = [int(np.clip(round(float(size) / step) + 1, 2, _MOST)) for size in sizes]
    resample = vtkResampleToImage()
    resample.SetInputDataObject(together)
    resample.SetUseInputBounds(False)
    resample.SetSamplingBounds(*box.ravel())
    resample.SetSamplingDimensions(*counts)
    resample.Update()
    sampled = resample.GetOutput()
    values = vtk_to_numpy(sampled.GetPointData().GetArray(VALUE)).astype(np.float32)
    valid = vtk_to_numpy(sampled.GetPointData().GetArray("vtkValidPointMask")) != 0
    image = vtkImageData()
    image.SetDimensions(*counts)
    image.SetOrigin(*box[:, 0])
    image.SetSpacing(*(sizes / (np.array(counts) - 1)))
    held = numpy_to_vtk(np.where(valid, values, np.float32(low)), deep=True)
    held.SetName(VALUE)
    image.GetPointData().SetScalars(held)
    return image


def _colours(drawing: Drawing) -> Any:
    low, high = drawing.found or (0.0, 1.0)
    made = vtkColorTransferFunction()
    if drawing.layer.colour:
        made.AddRGBPoint(low, *colour(drawing.layer.colour))
        return made
    rows = colour_map(drawing.layer.colours, 64)
    for at, row in zip(np.linspace(low, high, len(rows)), rows, strict=True):
        made.AddRGBPoint(float(at), *row[:3])
    return made


def _opacity(drawing: Drawing) -> Any:
    low, high = drawing.found or (0.0, 1.0)
    said = drawing.layer.opacity
    points = (
        list(said)
        if isinstance(said, tuple) and len(said) > 1
        else [0.0, said if isinstance(said, float | int) else said[0]]
    )
    made = vtkPiecewiseFunction()
    for at, opacity in zip(np.linspace(low, high, len(points)), points, strict=True):
        made.AddPoint(float(at), float(opacity))
    return made
