"""`halcyon picture`: frames of stored runs in both formats, and the files that are made of them."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image as Pillow
from store_sample import NX, NY, NZ, build_directory, expected, write_sample

from halcyon.cli import main
from halcyon.errors import UsageError
from halcyon.insitu.pictures.pieces import pieces_of
from halcyon.insitu.pictures.stored import StoredRun

pytestmark = pytest.mark.skipif(
    not (build_directory() / "tests/offload/store/write_sample").exists(),
    reason="the program of the store's tests is not built",
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for kind in ("hdf5", "zarr"):
        write_sample(folder / kind, "plain", kind)
    write_sample(folder / "missing", "missing")
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.parametrize("store", ["hdf5", "zarr"])
def test_a_frame_has_the_stored_blocks_with_their_mesh(runs: dict[str, Path], store: str) -> None:
    with StoredRun(runs[store]) as run:
        assert run.iterations == [0, 1, 2, 3]
        assert run.drawable == ["micro/qc", "theta"]
        assert run.variables["theta"].title == "theta (K)"
        frame = run.frame(2, ["theta"])
    blocks = frame.blocks_of("theta")
    assert sorted(blocks) == [(rank, 0) for rank in range(4)]
    assert (blocks[1, 0].ghost_before, blocks[1, 0].offset, blocks[1, 0].whole) == ((0, 1, 0), (0, 2, 0), (NZ, NY, NX))
    (piece,) = pieces_of(frame, ["theta"]).pieces
    np.testing.assert_array_equal(piece.fields["theta"], expected()[2])
    assert [line.tolist() for line in piece.coordinates] == [
        [200.0 * i for i in range(NX)], [100.0 * j for j in range(NY)], [50.0 * k * k for k in range(NZ)]
    ]  # fmt: skip


def test_the_view_that_vtk_reads_has_the_same_values_and_coordinates(runs: dict[str, Path]) -> None:
    netcdf = pytest.importorskip("vtkmodules.vtkIONetCDF", reason="VTK is not installed, or has no netCDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    from halcyon.insitu.pictures.description import parse_picture
    from halcyon.insitu.pictures.vtk_data import data_set

    reader = netcdf.vtkNetCDFCFReader()
    reader.SetFileName(str(runs["hdf5"] / "sim.h5"))
    reader.UpdateMetaData()
    reader.SetDimensions("(z, y, x)")
    reader.UpdateTimeStep(1)
    read = reader.GetOutput()
    with StoredRun(runs["hdf5"]) as run:
        (piece,) = pieces_of(run.frame(1, ["theta"]), ["theta"]).pieces
    ours = data_set(piece, parse_picture({"kind": "slice", "variable": "theta"}).layers[0])
    assert ours.GetDimensions() == read.GetDimensions()
    np.testing.assert_allclose(ours.GetBounds(), read.GetBounds())
    np.testing.assert_array_equal(
        vtk_to_numpy(ours.GetPointData().GetArray(0)), vtk_to_numpy(read.GetPointData().GetArray("theta"))
    )


def test_missing_blocks_are_holes(runs: dict[str, Path]) -> None:
    with StoredRun(runs["missing"]) as run:
        found = pieces_of(run.frame(3, ["theta"]), ["theta"])
    assert sum(piece.fields["theta"].size for piece in found.pieces) < expected()[3].size + 2 * NZ * NX
    with StoredRun(runs["missing"]) as run, pytest.raises(UsageError, match="no iteration 9; it has 0 to 3"):
        run.frame(9, ["theta"])


def picture(*words: str | Path) -> int:
    return main(["picture", *map(str, words)])


def test_pictures_an_animation_and_a_page(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vtkmodules", reason="VTK is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures.yaml").write_text(
        "cut: {kind: slice, variable: theta, plane: {normal: z}, size: [200, 160], smoothing: 1}\n"
        "levels: {kind: iso-surface, variable: micro/qc, size: [200, 160], smoothing: 1,"
        " regions: {auto: range, edge: 4}}\n"
    )
    outputs = [word for name in ("out", "theta.gif", "theta.apng", "theta.webp", "page.html") for word in ("-o", name)]
    code = picture(
        runs["hdf5"], "--picture", "pictures.yaml", "--iterations", ":2", "--every", "2", "--compare", *outputs
    )
    said = capsys.readouterr()
    assert code == 0, said.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        f"{name}.i0000000{i}.png" for name in ("cut", "levels") for i in (0, 2)
    ]
    for ending in ("gif", "apng", "webp"):
        with Pillow.open(tmp_path / f"theta-cut.{ending}") as moving:
            assert (moving.n_frames, moving.size) == (2, (200, 160))  # type: ignore[attr-defined]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<img ") == 6
    assert "2 of 8 blocks in full" in page.replace("\n", " ")
    assert "levels, iteration 2: 2 of 8 blocks in full" in said.out
    assert " instead of " in said.out


def test_one_picture_has_the_name_that_is_asked_for(runs: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("vtkmodules", reason="VTK is not installed")
    made = tmp_path / "theta.png"
    words = ("--kind", "contour", "--variable", "theta", "--set", "size=[200, 160]", "--set", "smoothing=1")
    assert picture(runs["zarr"], *words, "-o", made) == 0
    with Pillow.open(made) as opened:
        assert opened.size == (200, 160)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to draw: give --kind and --variable, or --picture; variables on meshes: micro/qc, theta"),
        (("--kind", "slice", "--variable", "thta"), "no variable 'thta'"),
        (("--kind", "slice"), "picture: a slice needs variable"),
        (
            ("--kind", "slice", "--variable", "theta", "-o", "a.jpg"),
            "-o a.jpg: expected a folder, or a name that ends in",
        ),
        (("--kind", "slice", "--variable", "theta", "-o", "no/a.png"), "no is no directory"),
        (("--kind", "slice", "--variable", "theta", "--set", "levels"), "--set levels: expected KEY=VALUE"),
        (("--kind", "slice", "--variable", "theta", "--set", "size=[1"), "the value is no YAML"),
        (
            ("--kind", "slice", "--variable", "theta", "--iterations", "7:"),
            "none of these iterations is stored; the run has 0 to 3",
        ),
        (("--kind", "slice", "--variable", "theta", "--every", "0"), "--every 0: expected"),
    ],
)
def test_what_makes_no_sense_is_said(
    runs: dict[str, Path], words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert picture(runs["hdf5"], *words) == 2
    assert said in capsys.readouterr().err


def test_files_that_are_no_pictures_are_named(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.yaml"
    for text, said in (("kind: [", f"{file}:1: no YAML"), ("- 1\n", f"{file}:1: expected a picture")):
        file.write_text(text)
        assert picture(runs["hdf5"], "--picture", file) == 1
        assert said in capsys.readouterr().err
    assert picture(tmp_path, "--kind", "slice", "--variable", "theta") == 2
    assert "holds no HDF5 files and no Zarr folders" in capsys.readouterr().err


def test_damage_is_told(runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Path(shutil.copytree(runs["hdf5"], tmp_path / "run"))
    with h5py.File(run / "sim.n0000.i00000002.h5", "r+") as file:
        file["theta/d000000"].attrs["offset"] = [0, 7, 0]
    assert picture(run, "--kind", "slice", "--variable", "theta", "-o", tmp_path / "a.png") == 2
    assert "ends outside of the whole" in capsys.readouterr().err
