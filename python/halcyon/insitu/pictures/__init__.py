"""Pictures of a simulation's blocks, from the description of its meshes alone. See docs/pictures.md."""

from halcyon.insitu.pictures.amr import amr_grids
from halcyon.insitu.pictures.description import Layer, Picture, Plane, View, parse_picture
from halcyon.insitu.pictures.draw import Made, Prepared, compose, draw, make_picture, prepare
from halcyon.insitu.pictures.frame import Block, Frame, Mesh, Variable, frame_of
from halcyon.insitu.pictures.survey import Survey, join

__all__ = [
    "Block",
    "Frame",
    "Layer",
    "Made",
    "Mesh",
    "Picture",
    "Plane",
    "Prepared",
    "Survey",
    "Variable",
    "View",
    "amr_grids",
    "compose",
    "draw",
    "frame_of",
    "join",
    "make_picture",
    "parse_picture",
    "prepare",
]
