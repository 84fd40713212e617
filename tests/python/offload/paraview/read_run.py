"""Run by pvpython: what ParaView's readers see of a run, into an .npz file.

read_run.py RUN.xmf RUN.h5 OUT.npz

Keys: reader/times, reader/<grid>/extent, reader/<grid>/x|y|z, reader/<grid>/<array>/<time>.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkIONetCDF import vtkNetCDFCFReader

xdmf, view, out = sys.argv[1:]
seen: dict[str, Any] = {}


def leaves(data: Any) -> Iterator[Any]:
    """The grids of a composite dataset, in order."""
    if not data.IsA("vtkCompositeDataSet"):
        yield data
        return
    at = data.NewIterator()
    at.InitTraversal()
    while not at.IsDoneWithTraversal():
        yield at.GetCurrentDataObject()
        at.GoToNextItem()


def keep(reader: str, time: float, data: Any) -> None:
    for number, grid in enumerate(leaves(data)):
        name = f"{reader}/{number}"
        seen[f"{name}/extent"] = grid.GetExtent()
        if grid.IsA("vtkRectilinearGrid"):
            for axis in "XYZ":
                seen[f"{name}/{axis.lower()}"] = vtk_to_numpy(getattr(grid, f"Get{axis}Coordinates")()).copy()
        for values in (grid.GetPointData(), grid.GetCellData()):
            for i in range(values.GetNumberOfArrays()):
                array = values.GetArray(i)
                seen[f"{name}/{array.GetName()}/{time:g}"] = vtk_to_numpy(array).copy()


by_xdmf = simple.Xdmf3ReaderS(FileName=[xdmf])
by_xdmf.UpdatePipelineInformation()
seen["xdmf/times"] = list(by_xdmf.TimestepValues)
for time in seen["xdmf/times"]:
    by_xdmf.UpdatePipeline(time)
    keep("xdmf", time, simple.servermanager.Fetch(by_xdmf))

# The class behind ParaView's NetCDF reader.
by_netcdf = vtkNetCDFCFReader()
by_netcdf.SetFileName(view)
by_netcdf.UpdateMetaData()
by_netcdf.SetDimensions("(z, y, x)")
by_netcdf.UpdateInformation()
seen["netcdf/times"] = by_netcdf.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
for time in seen["netcdf/times"]:
    by_netcdf.UpdateTimeStep(time)
    keep("netcdf", time, by_netcdf.GetOutput())

np.savez(out, **seen)
