"""A window that no screen shows. With EGL a graphics card is used where there is one; OSMesa needs a processor only."""

import ctypes
import os
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkFloatArray, vtkLogger
from vtkmodules.vtkRenderingCore import vtkCamera, vtkRenderer, vtkRenderWindow

from halcyon.errors import UnavailableError
from halcyon.insitu.pictures.camera import ANGLE, Camera
from halcyon.insitu.pictures.composite import Image


@cache
def _window() -> Any:
    """The process's only one: a context of OpenGL takes longer to make than a picture."""
    names = ("vtkEGLRenderWindow", "vtkOSOpenGLRenderWindow")
    opengl = vtkmodules.vtkRenderingOpenGL2
    kinds = [getattr(opengl, name) for name in names if hasattr(opengl, name)]
    if os.environ.get("VTK_DEFAULT_OPENGL_WINDOW"):
        kinds = [vtkRenderWindow]
    verbosity = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)  # of kinds that are not there
    try:
        for kind in kinds:
            window = kind()
            if window.GetClassName() == "vtkOSOpenGLRenderWindow" and not _has_osmesa():
                continue  # VTK would find out by a segmentation fault
            window.SetOffScreenRendering(True)
            window.SetSize(16, 16)
            if window.SupportsOpenGL():
                window = kind()
                window.SetOffScreenRendering(True)
                window.SetMultiSamples(0)
                window.SetAlphaBitPlanes(True)
                return window
    finally:
        vtkLogger.SetStderrVerbosity(verbosity)
    raise UnavailableError(
        "no OpenGL without a screen: pictures need libEGL with Mesa's drivers (Debian: libegl1 libgl1-mesa-dri) or "
        "libOSMesa (libosmesa6)"
    )


def _has_osmesa() -> bool:
    """By the names under which VTK looks for it."""
    for name in ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"):
        with suppress(OSError):
            ctypes.CDLL(name)
            return True
    return False


def render(props: list[Any], lights: Any, camera: Camera, size: tuple[int, int]) -> Image:
    """Draws on nothing: where there is no prop the image has no colour."""
    window = _window()
    renderer = vtkRenderer()
    renderer.SetBackground(0, 0, 0)
    renderer.SetBackgroundAlpha(0)
    renderer.SetUseDepthPeeling(True)
    renderer.SetMaximumNumberOfPeels(12)
    renderer.SetOcclusionRatio(0)
    for prop in props:
        renderer.AddViewProp(prop)
    lights.AddLightsToRenderer(renderer)
    renderer.SetActiveCamera(_camera(camera))
    window.SetSize(*size)
    window.AddRenderer(renderer)
    try:
        window.Render()
        return Image(*_pixels(window, size))
    finally:
        window.RemoveRenderer(renderer)
        renderer.RemoveAllViewProps()


def _pixels(window: Any, size: tuple[int, int]) -> tuple[Any, Any]:
    width, height = size
    colours, depths = vtkFloatArray(), vtkFloatArray()
    window.GetRGBAPixelData(0, 0, width - 1, height - 1, 0, colours, 0)
    window.GetZbufferData(0, 0, width - 1, height - 1, depths)
    rgba = vtk_to_numpy(colours).reshape(height, width, 4)[::-1]
    depth = vtk_to_numpy(depths).reshape(height, width)[::-1]
    return np.array(rgba, np.float32), np.array(depth, np.float32)


def _camera(camera: Camera) -> Any:
    made = vtkCamera()
    made.SetPosition(*camera.position)
    made.SetFocalPoint(*camera.target)
    made.SetViewUp(*camera.up)
    made.SetViewAngle(ANGLE)
    if camera.half_height is not None:
        made.SetParallelProjection(True)
        made.SetParallelScale(camera.half_height)
    made.SetClippingRange(camera.near, camera.far)
    return made
