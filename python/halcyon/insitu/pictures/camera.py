"""Where a picture is seen from. The same on every node: it follows from the bounds of the whole alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.insitu.pictures.description import SECTIONS, Picture, Vector, View

ANGLE = 30.0
"""Degrees from the lower to the upper edge, in perspective."""
_MARGIN = 1.04


@dataclass(frozen=True)
class Camera:
    position: Vector
    target: Vector
    up: Vector
    half_height: float | None
    """Of what is seen, for parallel rays; None: perspective."""
    near: float
    far: float

    @property
    def direction(self) -> NDArray[np.float64]:
        """Of the look."""
        along = np.subtract(self.target, self.position)
        return np.asarray(along / np.linalg.norm(along))


def camera_of(picture: Picture, bounds: NDArray[Any], size: tuple[int, int]) -> Camera:
    """`bounds`: rows of smallest and largest x, y and z, scaled. All is in sight, unless the zoom is above 1."""
    view = picture.view or _fitting_view(picture, bounds)
    corners = np.array(np.meshgrid(*bounds)).reshape(3, -1).T
    middle, scale = bounds.mean(axis=1), np.asarray(picture.scale)
    extent = float(np.linalg.norm(bounds[:, 1] - bounds[:, 0])) or 1.0
    if view.position is not None:
        target = np.multiply(view.target, scale) if view.target is not None else middle
        toward = np.multiply(view.position, scale) - target
        distance: float | None = float(np.linalg.norm(toward))
        toward = toward / distance if distance else np.array([0.0, 0.0, 1.0])
        distance = distance or extent
    else:
        target = np.multiply(view.target, scale) if view.target is not None else middle
        azimuth, elevation = np.radians([view.azimuth, view.elevation])
        flat = np.cos(elevation)
        toward = np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])
        distance = None
    up = _up(view, toward)
    right = np.cross(up, toward)
    seen = np.abs(np.stack([(corners - target) @ right, (corners - target) @ up]))
    depth = (corners - target) @ toward
    aspect = size[0] / size[1]
    half_height = None
    if view.parallel:
        half_height = float(max(seen[1].max(), seen[0].max() / aspect) * _MARGIN / view.zoom) or extent
        distance = distance or 2 * extent
    elif distance is None:
        slope = np.tan(np.radians(ANGLE / 2)) / _MARGIN
        away = np.maximum(seen[1], seen[0] / aspect) / slope + depth
        distance = float(away.max()) / view.zoom
    position = target + toward * distance
    pad = 0.02 * extent
    near = max(distance - float(depth.max()) - pad, 1e-3 * extent)
    far = max(distance - float(depth.min()) + pad, near + pad)
    return Camera(_triple(position), _triple(target), _triple(up), half_height, near, far)


def _fitting_view(picture: Picture, bounds: NDArray[Any]) -> View:
    sizes = bounds[:, 1] - bounds[:, 0]
    normals = {layer.section.normal for layer in picture.layers if layer.kind in SECTIONS}
    if sizes[2] == 0:
        normals = {(0.0, 0.0, 1.0)}
    elif len(normals) != 1 or any(layer.kind not in SECTIONS for layer in picture.layers):
        return View()
    x, y, z = normals.pop()
    if y and not x:  # seen from the front, x grows to the right
        y, z = -abs(y), -z if y > 0 else z
    return View(
        azimuth=float(np.degrees(np.arctan2(y, x))) if x or y else -90.0,
        elevation=float(np.degrees(np.arcsin(np.clip(z, -1, 1)))),
        parallel=True,
    )


def _up(view: View, toward: NDArray[np.float64]) -> NDArray[np.float64]:
    """At a right angle to the look."""
    for wanted in (view.up, (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)):
        if wanted is None:
            continue
        across = np.asarray(wanted, float) - np.dot(wanted, toward) * toward
        length = float(np.linalg.norm(across))
        if length > 1e-6:
            return np.asarray(across / length)
    return np.array([1.0, 0.0, 0.0])


def _triple(values: Any) -> Vector:
    x, y, z = (float(value) + 0.0 for value in values)
    return x, y, z
