"""Folders of the Zarr store, as zarr-python and xarray see them, and as `halcyon diff` compares them."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from store_sample import ITERATIONS, NX, NZ, build_directory, expected, write_sample

from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.offload.data_files import FORMATS, HDF5, ZARR, format_of, formats_with_view
from halcyon.offload.diff import diff

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_sample(tmp_path / "a", "plain", "zarr")
    return tmp_path / "a"


def elements(node: Any) -> np.ndarray:  # type: ignore[type-arg]
    assert isinstance(node, zarr.Array)
    return np.asarray(node[...])


def test_zarr_python_reads_what_was_written(run: Path) -> None:
    file = zarr.open_group(run / "sim.n0001.i00000002.zarr", mode="r", zarr_format=3)
    assert file.attrs["format"] == "halcyon"
    assert file.attrs["writer"] == "n0001"
    np.testing.assert_array_equal(elements(file[".halcyon/iterations"]), [2, 3])
    assert file["theta"].attrs["unit"] == "K"
    block = file["theta/d000002"]
    assert isinstance(block, zarr.Array)
    assert block.metadata.zarr_format == 3
    assert (block.shape, block.chunks, block.dtype) == ((2, NZ, 4, NX), (1, NZ, 4, NX), np.float32)
    assert block.attrs["offset"] == [0, 4, 0]
    np.testing.assert_array_equal(elements(block)[:, :, 1:3, :], expected()[2:4, :, 4:6, :])
    assert (elements(block)[:, :, 0, :] == -1).all()
    np.testing.assert_array_equal(elements(file["steps/d000003"]), [23, 33])
    assert file["micro/qc"].attrs["mesh"] == "grid"
    names = {m["name"] for m in file[".halcyon"].attrs["meshes"]}  # type: ignore[union-attr,index,call-overload]
    assert names == {"grid"}


def test_every_node_is_one_that_zarr_python_lists(run: Path) -> None:
    """No folder lacks its metadata, and no file is there that the specification does not know."""
    for path in run.glob("*.zarr"):
        listed = {"", *(name for name, _ in zarr.open_group(path, mode="r").members(max_depth=None))}
        folders = {"", *(str(found.relative_to(path)) for found in path.rglob("*") if found.is_dir())}
        assert listed == folders
        for file in path.rglob("*"):
            assert file.is_dir() or re.fullmatch(r"zarr\.json|c(\.\d+)*", file.name), file


def test_xarray_opens_a_variable_by_its_dimensions(run: Path) -> None:
    path = run / "sim.n0000.i00000000.zarr"
    with xr.open_zarr(path, group="theta", consolidated=False) as ds:
        assert ds.d000001.dims == ("iteration", "z", "y", "x")
        np.testing.assert_array_equal(ds.d000001[:, :, 1:3, :], expected()[0:2, :, 2:4, :])
    with xr.open_zarr(path, group="z", consolidated=False) as ds:
        assert ds.d000000.dims == ("iteration", "z")
    with xr.open_zarr(path, group="particles", consolidated=False) as ds:
        assert (ds.d000000.dims, ds.d000001.dims) == (("iteration", "dim_0_1"), ("iteration", "dim_0_2"))


def test_missing_blocks_are_fill(tmp_path: Path) -> None:
    write_sample(tmp_path, "missing", "zarr")
    file = zarr.open_group(tmp_path / "sim.n0001.i00000002.zarr", mode="r")
    theta, flags = elements(file["theta/d000003"]), elements(file["flags/d000003"])
    assert np.isnan(theta[1]).all()
    assert (flags[1] == np.iinfo(np.int32).min).all()
    np.testing.assert_array_equal(theta[0, :, 1:3, :], expected()[2, :, 6:8, :])
    assert file["theta/d000003"].attrs["rows"] == [0]
    assert file.attrs["incomplete_iterations"] == [3]
    with xr.open_zarr(tmp_path / "sim.n0001.i00000002.zarr", group="flags", consolidated=False) as ds:
        assert ds.d000003.dtype == np.int32


def test_reduced_precision_and_compression_are_read(tmp_path: Path) -> None:
    write_sample(tmp_path, "packed", "zarr")
    file = zarr.open_group(tmp_path / "sim.n0000.i00000000.zarr", mode="r")
    theta, cloud = file["theta/d000000"], file["micro/qc/d000000"]
    assert elements(theta).dtype == np.float16
    np.testing.assert_array_equal(elements(theta)[:, :, 1:3, :], expected()[:2, :, :2, :].astype(np.float16))
    np.testing.assert_allclose(elements(cloud)[:, :, 1:3, :], expected()[:2, :, :2, :] * 0.25, rtol=2**-9)
    assert any(isinstance(codec, zarr.codecs.GzipCodec) for codec in cloud.metadata.codecs)  # type: ignore[union-attr]
    index = file[".halcyon/index/theta/min_max"]
    assert index.attrs["datasets"] == ["d000000", "d000001"]
    for row in range(2):
        for column, name in enumerate(["d000000", "d000001"]):
            values = elements(file["theta"][name])[row]  # type: ignore[index]
            np.testing.assert_array_equal(elements(index)[row, column], [values.min(), values.max(), 0])


@pytest.mark.parametrize(("variable", "scale"), [("theta", 1), ("micro/qc", 0.25)])
def test_codecs_and_checksums_are_those_of_zarr_python(tmp_path: Path, variable: str, scale: float) -> None:
    """gzip and zstd, each with a checksum: what the store wrote is verified, and a changed byte is found."""
    write_sample(tmp_path, "sealed", "zarr")
    path = tmp_path / "sim.n0000.i00000000.zarr"
    array = zarr.open_group(path, mode="r")[f"{variable}/d000000"]
    np.testing.assert_array_equal(elements(array)[:, :, 1:3, :], expected()[:2, :, :2, :] * scale)
    chunk = path / variable / "d000000/c.1.0.0.0"
    damaged = bytearray(chunk.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    chunk.write_bytes(damaged)
    with pytest.raises(ValueError, match="checksum"):
        elements(array)


def test_the_example_of_the_docs_puts_all_nodes_together(run: Path) -> None:
    page = (ROOT / "docs/zarr.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(next(e for e in examples if "def whole" in e), names)
    for iteration in range(ITERATIONS):
        np.testing.assert_array_equal(names["whole"](str(run), "theta", iteration), expected()[iteration])
        np.testing.assert_array_equal(names["whole"](str(run), "micro/qc", iteration), expected()[iteration] * 0.25)


def test_a_run_equals_its_copy_and_the_same_run_in_hdf5(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "b"))
    assert diff(run, copy) == []
    assert diff(run / "sim.n0000.i00000000.zarr", copy / "sim.n0000.i00000000.zarr") == []
    assert diff(run, copy.rename(tmp_path / "run.zarr")) == []
    write_sample(tmp_path / "hdf5", "single")
    assert diff(run, tmp_path / "hdf5") == []
    assert diff(tmp_path / "hdf5", run, range(1, 3)) == []


@pytest.mark.parametrize("kind", ["missing", "packed"])
def test_both_formats_hold_the_same(tmp_path: Path, kind: str) -> None:
    write_sample(tmp_path / "zarr", kind, "zarr")
    write_sample(tmp_path / "hdf5", kind, "hdf5")
    assert diff(tmp_path / "zarr", tmp_path / "hdf5") == []


def test_differences_are_found_with_their_place(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "b"))
    file = zarr.open_group(copy / "sim.n0001.i00000002.zarr", mode="r+")
    file["theta/d000002"][0, 1, 2, 3] = 1.0  # type: ignore[index]
    file["theta"].attrs["unit"] = "degC"
    shutil.rmtree(copy / "sim.n0001.i00000000.zarr/steps/d000003")
    found = [str(d) for d in diff(run, copy)]
    assert "theta, domain 2, iteration 2: 1 of 120 values, the first at [1, 2, 3]: 2153.0 | 1.0" in found
    assert "theta: attribute unit: K | K and, in other files, degC" in found
    assert "steps, domain 3, iteration 0: there | absent" in found


def test_records_of_missing_blocks_are_compared(run: Path, tmp_path: Path) -> None:
    write_sample(tmp_path / "missing", "missing", "zarr")
    found = [str(d) for d in diff(run, tmp_path / "missing")]
    assert "theta, rank 3, block 0, iteration 3: recorded as missing (client_died): no | yes" in found
    assert "theta, domain 3, iteration 3: there | absent" in found


def test_other_zarr_groups_are_compared_by_array(tmp_path: Path) -> None:
    for name, last in (("a", 3.0), ("b", 4.0)):
        group = zarr.open_group(tmp_path / f"{name}.zarr", mode="w", zarr_format=3)
        group.create_array("inner/theta", data=np.array([1.0, np.nan, last])).attrs["units"] = name
    assert diff(tmp_path / "a.zarr", tmp_path / "a.zarr") == []
    assert [str(d) for d in diff(tmp_path / "a.zarr", tmp_path / "b.zarr")] == [
        "/inner/theta: 1 of 3 values, the first at [2]: 3.0 | 4.0",
        "/inner/theta: attribute units: 'a' | 'b'",
    ]


def test_a_damaged_folder_is_named(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "b"))
    (copy / "sim.n0000.i00000000.zarr/zarr.json").write_text("{")
    with pytest.raises(HalcyonSystemError, match=r"sim\.n0000\.i00000000\.zarr: not readable as a Zarr group"):
        diff(run, copy)
    shutil.copytree(run, copy, dirs_exist_ok=True)
    chunk = copy / "sim.n0000.i00000000.zarr/theta/d000000/c.0.0.0.0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(HalcyonSystemError, match=r"sim\.n0000\.i00000000\.zarr: damaged"):
        diff(run, copy)
    metadata = copy / "sim.n0001.i00000000.zarr/zarr.json"
    shutil.copytree(run, copy, dirs_exist_ok=True)
    metadata.write_text(json.dumps(json.loads(metadata.read_text()) | {"node_type": "array"}))
    with pytest.raises(HalcyonSystemError, match=r"sim\.n0001\.i00000000\.zarr: not readable as a Zarr group"):
        diff(run, copy)


def test_formats_are_known_by_name_and_kind(run: Path, tmp_path: Path) -> None:
    path = run / "sim.n0000.i00000000.zarr"
    assert format_of(path) is ZARR
    assert ZARR.place_of(path) == (0, 0)
    assert ZARR.place_of(Path("sim.n0000.i00000012.p03.zarr")) == (12, 3)
    (tmp_path / "file.zarr").touch()
    assert format_of(tmp_path / "file.zarr") is HDF5
    assert {known.ending for known in FORMATS} == {".h5", ".zarr"}
    assert all((build_directory() / f"lib/libhalcyon_store_{known.store_type}.so").exists() for known in FORMATS)
    with pytest.raises(UsageError, match="its data files are Zarr folders, which have no view"):
        formats_with_view(run)
    write_sample(run, "plain")
    assert formats_with_view(run) == [HDF5]
