"""Pictures of several nodes become one. NumPy alone: how images reach the node that does it does not matter here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError
from halcyon.insitu.pictures.camera import Camera


@dataclass(frozen=True)
class Image:
    """What one node drew, before the background."""

    rgba: NDArray[np.float32]
    """(height, width, 4), from 0 to 1, colours times opacity; the first row is the upper one."""
    depth: NDArray[np.float32]
    """(height, width): how far the nearest opaque surface is, from 0 (near) to 1; 1 where there is none."""

    def __post_init__(self) -> None:
        if self.rgba.ndim != 3 or self.rgba.shape[2] != 4 or self.depth.shape != self.rgba.shape[:2]:
            raise UsageError(f"an image of shape {self.rgba.shape} with a depth of shape {self.depth.shape}")


def composite_depth(images: Sequence[Image]) -> Image:
    """The nearest of all images at each pixel; the first of equally near ones. Right for opaque layers, however the
    data is divided. Where no image has a surface, the most opaque colour is taken."""
    first = _alike(images)
    rgba, depth = first.rgba.copy(), first.depth.copy()
    for image in images[1:]:
        nearer = image.depth < depth
        nothing = (image.depth == depth) & (depth >= 1) & (image.rgba[..., 3] > rgba[..., 3])
        take = nearer | nothing
        rgba[take] = image.rgba[take]
        depth[take] = image.depth[take]
    return Image(rgba, depth)


def blend_ordered(images: Sequence[Image]) -> Image:
    """Images from front to back, one over the other. Right for volumes, translucent layers and opaque ones when no
    ray meets an earlier image's data behind a later one's: the order of visibility_order."""
    first = _alike(images)
    rgba, depth = first.rgba.copy(), first.depth.copy()
    for image in images[1:]:
        rgba += (1 - rgba[..., 3:]) * image.rgba
        np.minimum(depth, image.depth, out=depth)
    return Image(np.clip(rgba, 0, 1), depth)


def _alike(images: Sequence[Image]) -> Image:
    if not images:
        raise UsageError("no images; expected one of each node")
    shapes = {image.depth.shape for image in images}
    if len(shapes) > 1:
        raise UsageError(f"images of different sizes: {', '.join(map(str, sorted(shapes)))}")
    return images[0]


def visibility_order(boxes: Sequence[NDArray[Any]], camera: Camera) -> list[int]:
    """Indices of boxes (rows of smallest and largest x, y and z), those in front first. Boxes may touch.

    UsageError: two overlap, or three lie around one another, so that no order is right.
    """
    count = len(boxes)
    low = np.array([box[:, 0] for box in boxes], float).reshape(count, 3)
    high = np.array([box[:, 1] for box in boxes], float).reshape(count, 3)
    room = 1e-6 * max(float(np.max(high - low, initial=0)), 1e-300)
    before = np.zeros((count, count), bool)
    apart = np.zeros((count, count), bool)
    position, direction = np.asarray(camera.position), camera.direction
    for axis in range(3):
        # [a, b]: a lies wholly below b
        below = high[:, None, axis] <= low[None, :, axis] + room
        np.fill_diagonal(below, False)
        flat = high[:, axis] - low[:, axis] <= room
        below &= ~(flat[:, None] & flat[None, :] & below.T)
        apart |= below | below.T
        if camera.half_height is None:
            from_below = below & (position[axis] <= (high[:, None, axis] + low[None, :, axis]) / 2)
            from_above = below & ~from_below
        else:
            from_below = below & (direction[axis] > 0)
            from_above = below & (direction[axis] < 0)
        before |= from_below | from_above.T
    overlap = ~(apart | np.eye(count, dtype=bool))
    if overlap.any():
        a, b = np.argwhere(overlap)[0]
        raise UsageError(
            f"the data of nodes {a} and {b} overlaps in space: volumes and translucent layers have no order then; draw "
            "opaque layers, or give each node a box of the domain"
        )
    before &= ~before.T  # no ray meets both
    order: list[int] = []
    behind = before.sum(axis=0)
    ready = [int(i) for i in np.flatnonzero(behind == 0)]
    while ready:
        i = ready.pop(0)
        order.append(i)
        behind[before[i]] -= 1
        ready += [int(j) for j in np.flatnonzero(before[i] & (behind == 0))]
    if len(order) < count:
        raise UsageError(
            "the boxes of three or more nodes lie around one another: no order from front to back is right"
        )
    return order


def smaller(image: NDArray[np.float32], times: int) -> NDArray[np.float32]:
    """Each `times` x `times` pixels averaged."""
    if times == 1:
        return image
    height, width = image.shape[0] // times, image.shape[1] // times
    cut = image[: height * times, : width * times]
    return np.asarray(cut.reshape(height, times, width, times, *image.shape[2:]).mean(axis=(1, 3)), np.float32)
