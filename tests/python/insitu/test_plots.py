"""Each kind of plot on each kind of mesh, against what VTK makes of a file with the same data."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fields import NAMES, SHAPE, ball, grids, lines, on_box, on_tetrahedra, on_warped, tetrahedra, turning, warped

pytest.importorskip("vtkmodules", reason="VTK is not installed")

from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPlane
from vtkmodules.vtkFiltersCore import (
    vtkAppendPolyData,  # noqa: F401
    vtkContourFilter,
    vtkCutter,
    vtkMassProperties,
    vtkTriangleFilter,
)
from vtkmodules.vtkIOLegacy import vtkDataSetReader

from halcyon.errors import UsageError
from halcyon.insitu.pictures.description import Picture, parse_picture
from halcyon.insitu.pictures.draw import prepare
from halcyon.insitu.pictures.frame import Block, Frame, Mesh, Variable
from halcyon.insitu.pictures.plots import Drawing, props_of
from halcyon.insitu.pictures.vtk_data import VALUE, VECTOR, data_set

UNEVEN = lines(even=False)
F = ball(*grids(lines()))


def text(values: Any) -> str:
    return " ".join(f"{value:.17g}" for value in np.ravel(values))


def written(path: Path, head: str, count: int, where: str, values: Any) -> Any:
    """What VTK reads of a file in its own text format, which is written here by hand."""
    path.write_text(
        f"# vtk DataFile Version 3.0\nf\nASCII\n{head}\n{where} {count}\nSCALARS value double 1\nLOOKUP_TABLE default\n"
        f"{text(values)}\n"
    )
    reader = vtkDataSetReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def points_text(points: Any) -> str:
    z, y, x = points
    return f"POINTS {z.size} double\n{text(np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1))}"


def file_of(path: Path, kind: str, *, cells: bool = False) -> Any:
    nz, ny, nx = SHAPE
    where, count = ("CELL_DATA", (nx - 1) * (ny - 1) * (nz - 1)) if cells else ("POINT_DATA", nx * ny * nz)
    if kind == "rectilinear":
        z, y, x = UNEVEN
        head = f"DATASET RECTILINEAR_GRID\nDIMENSIONS {nx} {ny} {nz}\n" + "\n".join(
            f"{axis}_COORDINATES {len(line)} double\n{text(line)}" for axis, line in zip("XYZ", (x, y, z), strict=True)
        )
        points = grids(UNEVEN)
    elif kind == "curvilinear":
        points = warped(lines())
        head = f"DATASET STRUCTURED_GRID\nDIMENSIONS {nx} {ny} {nz}\n{points_text(points)}"
    else:
        points, listed = tetrahedra(lines())
        rows = np.insert(listed, 0, 4, axis=1)
        head = (
            f"DATASET UNSTRUCTURED_GRID\n{points_text(points)}\nCELLS {len(rows)} {rows.size}\n{text(rows)}\n"
            f"CELL_TYPES {len(rows)}\n{text(np.full(len(rows), 10))}"
        )
        if cells:
            count = len(rows)
            return written(path, head, count, where, ball(*points)[listed].mean(axis=1))
    values = ball(*points)
    return written(path, head, count, where, values[1:, 1:, 1:] if cells else values)


def frame_of_kind(kind: str, *, cells: bool = False, parts: tuple[int, int, int] = (1, 1, 1)) -> Frame:
    if kind == "rectilinear":
        values = ball(*grids(UNEVEN))
        return on_box({"f": values[1:, 1:, 1:] if cells else values}, parts, coordinates=UNEVEN)
    if kind == "curvilinear":
        points = warped(lines())
        values = ball(*points)
        return on_warped({"f": values[1:, 1:, 1:] if cells else values}, points, parts)
    return on_tetrahedra(ball, lines(), centering="cell" if cells else "node")


KINDS = ("rectilinear", "curvilinear", "unstructured")


def drawn(frame: Frame, said: dict[str, Any]) -> Any:
    """The polygons of a picture of one layer."""
    picture: Picture = parse_picture(said)
    prepared = prepare(frame, picture)
    survey = prepared.survey
    (layer,) = picture.layers
    pieces = prepared.pieces[0].pieces
    drawing = Drawing(layer, pieces, survey.ranges[0], survey, picture.scale, 1, survey.longest[0])
    props = props_of(drawing)
    return props[0].GetMapper().GetInput() if props else None


def area(polygons: Any) -> float:
    triangles = vtkTriangleFilter()
    triangles.SetInputData(polygons)
    triangles.Update()
    mass = vtkMassProperties()
    mass.SetInputData(triangles.GetOutput())
    mass.Update()
    return float(mass.GetSurfaceArea())


def length(lines_of: Any) -> float:
    points = vtk_to_numpy(lines_of.GetPoints().GetData()).astype(float)
    offsets = vtk_to_numpy(lines_of.GetLines().GetOffsetsArray())
    listed = vtk_to_numpy(lines_of.GetLines().GetConnectivityArray())
    return float(sum(np.linalg.norm(np.diff(points[listed[a:b]], axis=0), axis=1).sum() for a, b in pairwise(offsets)))


@pytest.mark.parametrize("cells", [False, True], ids=["node", "cell"])
@pytest.mark.parametrize("kind", KINDS)
def test_vtk_sees_the_same_mesh_as_in_a_file(tmp_path: Path, kind: str, cells: bool) -> None:
    read = file_of(tmp_path / "f.vtk", kind, cells=cells)
    picture = parse_picture({"kind": "slice", "variable": "f"})
    (piece,) = prepare(frame_of_kind(kind, cells=cells), picture).pieces[0].pieces
    ours = data_set(piece, picture.layers[0])
    assert (ours.GetNumberOfPoints(), ours.GetNumberOfCells()) == (read.GetNumberOfPoints(), read.GetNumberOfCells())
    for i in (0, 1, 100, ours.GetNumberOfPoints() - 1):
        np.testing.assert_allclose(ours.GetPoint(i), read.GetPoint(i), atol=1e-6)
    for i in (0, 7, ours.GetNumberOfCells() - 1):
        a, b = ours.GetCell(i), read.GetCell(i)
        assert a.GetCellType() == b.GetCellType()
        assert [a.GetPointId(j) for j in range(8 if kind != "unstructured" else 4)] == [
            b.GetPointId(j) for j in range(8 if kind != "unstructured" else 4)
        ]
    data = "GetCellData" if cells else "GetPointData"
    np.testing.assert_array_equal(
        vtk_to_numpy(getattr(ours, data)().GetArray(VALUE)), vtk_to_numpy(getattr(read, data)().GetArray("value"))
    )


@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 2, 3)], ids=["one", "twelve"])
@pytest.mark.parametrize("kind", KINDS)
def test_iso_surfaces_slices_and_lines_are_vtks(tmp_path: Path, kind: str, parts: tuple[int, int, int]) -> None:
    read, frame = file_of(tmp_path / "f.vtk", kind), frame_of_kind(kind, parts=parts)
    contours = vtkContourFilter()
    contours.SetInputData(read)
    contours.SetValue(0, 0.3)
    contours.SetValue(1, 0.45)
    contours.Update()
    surfaces = drawn(frame, {"kind": "iso-surface", "variable": "f", "levels": [0.3, 0.45]})
    assert area(surfaces) == pytest.approx(area(contours.GetOutput()), rel=1e-6)
    assert surfaces.GetNumberOfPoints() == contours.GetOutput().GetNumberOfPoints()

    plane = vtkPlane()
    plane.SetNormal(0, 1, 0)
    plane.SetOrigin(0, 0.61, 0)
    cutter = vtkCutter()
    cutter.SetCutFunction(plane)
    cutter.SetInputData(read)
    cutter.Update()
    at = {"variable": "f", "plane": {"normal": "y", "at": 0.61}}
    section = drawn(frame, {"kind": "slice", **at})
    assert area(section) == pytest.approx(area(cutter.GetOutput()), rel=1e-6)
    values, expected = (vtk_to_numpy(data.GetPointData().GetArray(VALUE)) for data in (section, cutter.GetOutput()))
    assert (values.min(), values.max()) == pytest.approx((expected.min(), expected.max()), rel=1e-6)

    contours.SetInputData(cutter.GetOutput())
    contours.Update()
    found = drawn(frame, {"kind": "contour", "levels": [0.3, 0.45], **at})
    assert length(found) == pytest.approx(length(contours.GetOutput()), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_slice_of_cells_shows_their_own_values(tmp_path: Path, kind: str) -> None:
    cut = drawn(
        frame_of_kind(kind, cells=True),
        {"kind": "slice", "variable": "f", "plane": {"normal": "z", "at": "50 %"}, "range": [0, 1]},
    )
    read = file_of(tmp_path / "f.vtk", kind, cells=True)
    shown = set(vtk_to_numpy(cut.GetCellData().GetArray(VALUE)).tolist())
    assert shown
    assert shown <= set(vtk_to_numpy(read.GetCellData().GetArray("value")).tolist())


def test_ten_levels_lie_within_the_range_of_all_nodes() -> None:
    surfaces = drawn(on_box({"f": F}), {"kind": "iso-surface", "variable": "f"})
    levels = np.unique(np.round(vtk_to_numpy(surfaces.GetPointData().GetArray(VALUE)), 6))
    np.testing.assert_allclose(levels, np.linspace(F.min(), F.max(), 12)[1:-1], atol=2e-6)


def test_arrows_stand_on_a_lattice_and_point_along_the_vector() -> None:
    values = turning(*grids(lines()))
    for parts in ((1, 1, 1), (2, 2, 2)):
        arrows = drawn(
            on_box(values, parts), {"kind": "quiver", "vector": NAMES, "count": 100, "plane": {"normal": "z"}}
        )
        speeds = vtk_to_numpy(arrows.GetPointData().GetArray(VALUE))
        positions = vtk_to_numpy(arrows.GetPoints().GetData()).astype(float)
        centres = np.unique(np.round(speeds, 6))
        assert 30 < len(centres) <= 130
        # Each arrow is one glyph of the same number of points: its first and its tip tell where it points.
        per = len(positions) // arrows.GetPointData().GetArray(VALUE).GetNumberOfTuples() or 1
        assert per == 1
        u, v = -(positions[:, 1] - 0.6), positions[:, 0] - 0.7
        assert np.corrcoef(np.hypot(u, v), speeds)[0, 1] > 0.98


def test_balls_of_points_have_the_size_of_their_value() -> None:
    rng = np.random.default_rng(1)
    arrays = dict(zip(("pz", "py", "px"), rng.uniform(0, 1, (3, 50)), strict=True)) | {"f": np.linspace(1, 2, 50)}
    cloud = Mesh("cloud", "points", ("pz", "py", "px"))
    blocks = {name: [Block(name, values[:20], 0), Block(name, values[20:], 1)] for name, values in arrays.items()}
    frame = Frame(0, {"f": Variable("f", mesh="cloud")}, {"cloud": cloud}, blocks)
    balls = drawn(frame, {"kind": "glyph", "variable": "f"})
    values = vtk_to_numpy(balls.GetPointData().GetArray(VALUE))
    points = vtk_to_numpy(balls.GetPoints().GetData())
    sizes = []
    for i in (0, 25, 49):
        own = points[np.isclose(values, arrays["f"][i])]
        sizes.append(np.ptp(own[:, 2]))
        np.testing.assert_allclose(own[:, 2].mean(), arrays["pz"][i], atol=0.01)
    assert sizes[0] < sizes[1] < sizes[2]
    with pytest.raises(UsageError, match="lives on a mesh of points, of which only kind: glyph"):
        drawn(frame, {"kind": "slice", "variable": "f"})


@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 2, 2)])
def test_streamlines_of_a_rotation_are_circles(parts: tuple[int, int, int]) -> None:
    values = turning(*grids(lines()))
    values["w"] = 0 * values["w"]
    tubes = drawn(
        on_box(values, parts),
        {"kind": "streamlines", "vector": NAMES, "count": 4, "length": 2, "width": 0.01, "plane": {"normal": "z"}},
    )
    points = vtk_to_numpy(tubes.GetPoints().GetData()).astype(float)
    radii = np.hypot(points[:, 0] - 0.7, points[:, 1] - 0.6)
    speeds = vtk_to_numpy(tubes.GetPointData().GetArray(VALUE))
    np.testing.assert_allclose(radii, speeds, atol=0.01)
    assert np.ptp(points[:, 2]) < 0.01
    assert radii.max() > 0.2


def test_a_volume_of_an_uneven_mesh_is_sampled_evenly() -> None:
    from halcyon.insitu.pictures.plots.volumes import _image

    picture = parse_picture({"kind": "volume", "variable": "f"})
    prepared = prepare(frame_of_kind("rectilinear"), picture)
    survey = prepared.survey
    image = _image(Drawing(picture.layers[0], prepared.pieces[0].pieces, survey.ranges[0], survey, picture.scale, 1))
    nx, ny, nz = image.GetDimensions()
    values = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(nz, ny, nx)
    sampled = ball(*grids([np.linspace(0, line[-1], n) for line, n in zip(UNEVEN, (nz, ny, nx), strict=True)]))
    assert np.abs(values - sampled).max() < 0.05


def test_no_cells_are_drawn_where_values_are_not_known() -> None:
    holed = F.copy()
    holed[:, :, 8:] = np.nan
    surfaces = drawn(on_box({"f": holed}), {"kind": "iso-surface", "variable": "f", "levels": [0.4]})
    points = vtk_to_numpy(surfaces.GetPoints().GetData())
    assert np.isfinite(points).all()
    assert points[:, 0].max() <= lines()[2][7] + 1e-6
    assert drawn(on_box({"f": np.full(SHAPE, np.nan)}), {"kind": "slice", "variable": "f"}) is None


def test_vectors_are_stretched_as_the_mesh_is() -> None:
    values = turning(*grids(lines()))
    picture = parse_picture({"kind": "quiver", "vector": NAMES, "scale": [1, 1, 3]})
    (piece,) = prepare(on_box(values), picture).pieces[0].pieces
    data = data_set(piece, picture.layers[0], picture.scale)
    np.testing.assert_allclose(vtk_to_numpy(data.GetPointData().GetArray(VECTOR))[:, 2], 0.15)
    assert data.GetBounds()[5] == pytest.approx(3)


def test_flat_meshes_have_no_bodies() -> None:
    flat = Mesh("flat", "rectilinear", ("y", "x"))
    y, x = grids(lines()[1:])
    blocks = {"f": [Block("f", x + y)], "y": [Block("y", lines()[1])], "x": [Block("x", lines()[2])]}
    frame = Frame(0, {"f": Variable("f", mesh="flat")}, {"flat": flat}, blocks)
    assert area(drawn(frame, {"kind": "slice", "variable": "f"})) == pytest.approx(1.25 * 1.5)
    assert length(drawn(frame, {"kind": "contour", "variable": "f", "levels": [1.0]})) == pytest.approx(
        2**0.5, rel=1e-6
    )
    with pytest.raises(UsageError, match="kind: volume needs three dimensions; try contour"):
        drawn(frame, {"kind": "volume", "variable": "f"})


@pytest.mark.parametrize(
    "dtype",
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", ">f8", "bool"],
)
def test_values_of_every_type_reach_vtk(dtype: str) -> None:
    values = (np.arange(27).reshape(3, 3, 3) % 2 if dtype == "bool" else np.arange(27).reshape(3, 3, 3)).astype(dtype)
    picture = parse_picture({"kind": "slice", "variable": "f"})
    (piece,) = prepare(on_box({"f": values}), picture).pieces[0].pieces
    data = data_set(piece, picture.layers[0])
    found = vtk_to_numpy(data.GetPointData().GetArray(VALUE))
    np.testing.assert_array_equal(found, values.ravel())
    if dtype not in ("float16", ">f8"):
        assert np.shares_memory(found, values) or np.shares_memory(found, piece.fields["f"])
