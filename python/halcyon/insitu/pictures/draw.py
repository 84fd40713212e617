"""From a frame to an image, in the three steps that nodes take together: prepare, draw, and compose.

    prepared = prepare(frame, picture)              # on each node
    survey = join([of each node .survey])           # what all agree on
    image = draw(prepared, survey)                  # on each node
    whole = compose(picture, survey, images, boxes) # on one
    pixels = finished(whole, picture, survey, …)    # halcyon.insitu.pictures.labels: background, colour bars, texts

`make_picture` does all of it on one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UnavailableError, UsageError
from halcyon.insitu.pictures.camera import Camera, camera_of
from halcyon.insitu.pictures.colours import is_light
from halcyon.insitu.pictures.composite import Image, blend_ordered, composite_depth, visibility_order
from halcyon.insitu.pictures.description import Picture
from halcyon.insitu.pictures.divided import divided
from halcyon.insitu.pictures.frame import Frame, Key
from halcyon.insitu.pictures.labels import drawn_size, finished
from halcyon.insitu.pictures.pieces import Pieces, common_keys, pieces_of
from halcyon.insitu.pictures.regions import Saving, strides
from halcyon.insitu.pictures.survey import Survey, join, survey_of


@dataclass(frozen=True)
class Prepared:
    """One node's part of a picture."""

    picture: Picture
    pieces: tuple[Pieces, ...]
    """Of each layer."""
    survey: Survey
    """Of this node alone."""
    saving: Saving | None
    """Bytes, with regions."""

    @property
    def open_seams(self) -> int:
        return max((of_layer.open_seams for of_layer in self.pieces), default=0)


def prepare(frame: Frame, picture: Picture, *, whole: bool = False) -> Prepared:
    """`whole`: without regard to regions. UsageError: the picture does not fit the frame."""
    regions = None if whole else picture.regions
    if regions is not None:
        frame = divided(frame, picture.names, regions.edge)
    made: list[Pieces] = []
    blocks = full = full_bytes = drawn_bytes = 0
    for layer in picture.layers:
        thin: dict[Key, int] | None = None
        if regions is not None:
            keys = common_keys(frame, layer.names)
            thin = strides(regions, frame, layer.names[0], keys)
            blocks += len(keys)
            full += sum(stride == 1 for stride in thin.values())
            full_bytes += sum(frame.blocks_of(name)[key].inner().nbytes for name in layer.names for key in keys)
        pieces = pieces_of(frame, layer.names, at_points=layer.kind != "slice", strides=thin)
        drawn_bytes += sum(piece.bytes for piece in pieces.pieces)
        made.append(pieces)
    survey = survey_of(picture, [of_layer.pieces for of_layer in made])
    saving = Saving(blocks, full, full_bytes, drawn_bytes) if regions is not None else None
    return Prepared(picture, tuple(made), survey, saving)


def draw(prepared: Prepared, survey: Survey | None = None) -> Image:
    """`survey`: of all nodes; without it, of this one. UnavailableError: VTK is not installed, or has no OpenGL."""
    try:
        from vtkmodules.vtkRenderingCore import vtkLightKit

        from halcyon.insitu.pictures.offscreen import render
        from halcyon.insitu.pictures.plots import props_of
        from halcyon.insitu.pictures.plots.drawing import Drawing
        from halcyon.insitu.pictures.plots.outline import outline
    except ImportError as why:
        raise UnavailableError(
            f"pictures need VTK, which is not installed: pip install 'halcyon[pictures]' ({why})"
        ) from why
    picture, known = prepared.picture, survey or prepared.survey
    width, height = drawn_size(picture, known)
    size = (width * picture.smoothing, height * picture.smoothing)
    if known.bounds is None:
        return Image(np.zeros((size[1], size[0], 4), np.float32), np.ones((size[1], size[0]), np.float32))
    props: list[Any] = []
    for i, (layer, of_layer) in enumerate(zip(picture.layers, prepared.pieces, strict=True)):
        drawing = Drawing(
            layer, of_layer.pieces, known.ranges[i], known, picture.scale, picture.smoothing, known.longest[i]
        )
        props += props_of(drawing)
    if picture.outline and prepared.survey.bounds is not None and (known.bounds[:, 1] > known.bounds[:, 0]).all():
        ink = (0.55, 0.58, 0.62) if is_light(picture.background) else (0.42, 0.46, 0.52)
        props += outline(known.bounds, prepared.survey.bounds, ink, picture.smoothing)
    return render(props, vtkLightKit(), camera_of(picture, known.bounds, size), size)


def needs_order(picture: Picture) -> bool:
    """Whether a layer lets through what is behind it."""
    return any(layer.is_translucent for layer in picture.layers)


def compose(picture: Picture, survey: Survey, images: Sequence[Image], boxes: Sequence[NDArray[Any] | None]) -> Image:
    """One image of those of all nodes. `boxes`: the bounds of each node's own survey; None: it drew nothing.

    UsageError: a layer is translucent, and the boxes of two nodes overlap.
    """
    drawn = [(image, box) for image, box in zip(images, boxes, strict=True) if box is not None]
    if not drawn or survey.bounds is None:
        return composite_depth(images)
    if len(drawn) == 1 or not needs_order(picture):
        return composite_depth([image for image, _ in drawn])
    height, width = drawn[0][0].depth.shape
    camera: Camera = camera_of(picture, survey.bounds, (width, height))
    return blend_ordered([drawn[i][0] for i in visibility_order([box for _, box in drawn], camera)])


@dataclass(frozen=True)
class Made:
    pixels: NDArray[np.uint8]
    """(height, width, 3), the first row is the upper one."""
    saving: Saving | None
    open_seams: int
    seconds: float


def make_picture(
    frames: Frame | Sequence[Frame], picture: Picture, *, survey: Survey | None = None, compare: bool = False
) -> Made:
    """The whole way for one frame, or for the parts of several nodes. `survey`: ranges and bounds of more than these
    frames. `compare`: with regions, it is also drawn without them, to know how long that takes."""
    parts = [frames] if isinstance(frames, Frame) else list(frames)
    if not parts:
        raise UsageError("no frames; expected one of each node")
    begin = perf_counter()
    prepared = [prepare(part, picture) for part in parts]
    survey = survey or join([one.survey for one in prepared])
    images = [draw(one, survey) for one in prepared]
    image = compose(picture, survey, images, [one.survey.bounds for one in prepared])
    pixels = finished(image, picture, survey, parts[0])
    seconds = perf_counter() - begin
    saving = None
    if picture.regions is not None:
        savings = [one.saving for one in prepared if one.saving is not None]
        full_seconds = own_seconds = None
        if compare:  # both once more, now that libraries and window are there
            full_seconds = _drawing_seconds(parts, picture, survey, whole=True)
            own_seconds = _drawing_seconds(parts, picture, survey, whole=False)
        saving = Saving(
            sum(s.blocks for s in savings), sum(s.full_blocks for s in savings), sum(s.full_bytes for s in savings),
            sum(s.drawn_bytes for s in savings), own_seconds, full_seconds,
        )  # fmt: skip
    return Made(pixels, saving, max(one.open_seams for one in prepared), seconds)


def _drawing_seconds(parts: Sequence[Frame], picture: Picture, survey: Survey, *, whole: bool) -> float:
    begin = perf_counter()
    for part in parts:
        draw(prepare(part, picture, whole=whole), survey)
    return perf_counter() - begin
