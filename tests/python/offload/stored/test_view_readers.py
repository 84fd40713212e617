"""The view and the files under it, as readers that know nothing of Halcyon see them."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from store_sample import NX, NY, NZ, expected, write_sample

ENGINES = ["h5netcdf", "netcdf4"]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("netCDF4" if request.param == "netcdf4" else "h5netcdf")
    return str(request.param)


def test_xarray_sees_arrays_over_time_and_space(tmp_path: Path, engine: str) -> None:
    with xr.open_dataset(write_sample(tmp_path, "plain"), engine=engine) as ds:
        assert ds.theta.dims == ("time", "z", "y", "x")
        assert ds.theta.dtype == np.float32
        np.testing.assert_array_equal(ds.theta, expected())
        assert ds.theta.attrs["units"] == "K"
        assert ds.theta.attrs["long_name"] == "potential temperature"
        np.testing.assert_array_equal(ds.time, [0, 1, 2, 3])
        np.testing.assert_array_equal(ds.z, 50.0 * np.arange(NZ) ** 2)
        np.testing.assert_array_equal(ds.y, 100.0 * np.arange(NY))
        np.testing.assert_array_equal(ds.x, 200.0 * np.arange(NX))
        assert ds.x.attrs["units"] == "m"
        assert float(ds.theta.sel(time=2, z=50.0, y=700.0, x=1800.0)) == 2000 + 100 + 70 + 9


def test_xarray_sees_integers_as_integers_when_nothing_is_missing(tmp_path: Path, engine: str) -> None:
    with xr.open_dataset(write_sample(tmp_path, "plain"), engine=engine) as ds:
        assert ds.flags.dtype == np.int32
        np.testing.assert_array_equal(ds.flags, expected())


def test_xarray_opens_groups_whose_dimensions_lie_in_the_root(tmp_path: Path, engine: str) -> None:
    view = write_sample(tmp_path, "single")
    with xr.open_dataset(view, engine=engine, group="micro") as ds:
        assert ds.qc.dims == ("time", "z", "y", "x")
        np.testing.assert_array_equal(ds.qc, expected() * 0.25)


def test_xarray_sees_variables_without_a_place_by_domain(tmp_path: Path, engine: str) -> None:
    view = write_sample(tmp_path, "plain")
    with xr.open_dataset(view, engine=engine) as ds:
        assert ds.steps.dims == ("time", "domain")
        np.testing.assert_array_equal(ds.steps, [[10 * t + r for r in range(4)] for t in range(4)])
    with xr.open_dataset(view, engine=engine, group="particles") as ds:
        np.testing.assert_array_equal(ds.d000003, [[t + i for i in range(4)] for t in range(4)])


def test_missing_blocks_are_nan_in_their_place_only(tmp_path: Path, engine: str) -> None:
    with xr.open_dataset(write_sample(tmp_path, "missing"), engine=engine) as ds:
        theta = expected()
        theta[3, :, 6:8, :] = np.nan
        np.testing.assert_array_equal(ds.theta, theta)
        np.testing.assert_array_equal(ds.flags, theta)
        np.testing.assert_array_equal(np.atleast_1d(ds.attrs["incomplete_iterations"]), [3])


def test_iterations_that_a_late_node_has_not_published_are_not_there(tmp_path: Path, engine: str) -> None:
    with xr.open_dataset(write_sample(tmp_path, "late"), engine=engine) as ds:
        assert ds.sizes["time"] == 2
        np.testing.assert_array_equal(ds.theta, expected(2))


def test_reduced_precision_is_read_as_the_declared_type(tmp_path: Path, engine: str) -> None:
    view = write_sample(tmp_path, "packed")
    with xr.open_dataset(view, engine=engine) as ds:
        assert ds.theta.dtype == np.float32
        np.testing.assert_array_equal(ds.theta, expected().astype(np.float16))
    with xr.open_dataset(view, engine=engine, group="micro") as ds:
        np.testing.assert_allclose(ds.qc, expected() * 0.25, rtol=2**-9)
        assert not np.array_equal(ds.qc, expected() * 0.25)


def test_the_view_works_after_its_folder_was_moved(tmp_path: Path, engine: str) -> None:
    write_sample(tmp_path / "run", "plain")
    (tmp_path / "run").rename(tmp_path / "moved")
    with xr.open_dataset(tmp_path / "moved" / "sim.h5", engine=engine) as ds:
        np.testing.assert_array_equal(ds.theta, expected())


def test_h5py_reads_the_data_files(tmp_path: Path) -> None:
    write_sample(tmp_path, "plain")
    with h5py.File(tmp_path / "sim.n0001.i00000002.h5") as file:
        assert file.attrs["format"] == "halcyon"
        assert file.attrs["writer"] == "n0001"
        np.testing.assert_array_equal(file[".halcyon/iterations"], [2, 3])
        group = file["theta"]
        assert group.attrs["unit"] == "K"
        dataset = group["d000002"]
        assert dataset.shape == (2, NZ, 4, NX)
        assert dataset.chunks == (1, NZ, 4, NX)
        np.testing.assert_array_equal(dataset.attrs["offset"], [0, 4, 0])
        np.testing.assert_array_equal(dataset[:, :, 1:3, :], expected()[2:4, :, 4:6, :])
        assert (dataset[:, :, 0, :] == -1).all()


def test_h5py_reads_half_precision_and_the_index(tmp_path: Path) -> None:
    write_sample(tmp_path, "packed")
    with h5py.File(tmp_path / "sim.n0000.i00000000.h5") as file:
        dataset = file["theta/d000000"]
        assert dataset.dtype == np.float16
        index = file[".halcyon/index/theta/min_max"]
        assert list(index.attrs["datasets"]) == ["d000000", "d000001"]
        for row in range(2):
            for column, name in enumerate(index.attrs["datasets"]):
                values = file["theta"][name][row]
                np.testing.assert_array_equal(index[row, column], [values.min(), values.max(), 0])


def test_xdmf_selects_each_time_step_of_the_view(tmp_path: Path) -> None:
    view = write_sample(tmp_path, "plain")
    root = ET.parse(view.with_suffix(".xmf")).getroot()
    steps = root.findall("./Domain/Grid/Grid")
    assert [float(s.find("Time").attrib["Value"]) for s in steps] == [0, 1, 2, 3]  # type: ignore[union-attr]
    with h5py.File(view) as file:
        for step, grid in enumerate(steps):
            mesh = next(g for g in grid.iter("Grid") if g.attrib["Name"] == "grid")
            topology = mesh.find("Topology")
            geometry = mesh.find("Geometry")
            assert topology is not None
            assert geometry is not None
            assert topology.attrib == {"TopologyType": "3DRectMesh", "Dimensions": f"{NZ} {NY} {NX}"}
            assert geometry.attrib["GeometryType"] == "VXVYVZ"
            lines = [_read(file, view, item) for item in geometry.findall("DataItem")]
            assert [len(line) for line in lines] == [NX, NY, NZ]
            theta = next(a for a in mesh.findall("Attribute") if a.attrib["Name"] == "theta")
            item = theta.find("DataItem")
            assert item is not None
            np.testing.assert_array_equal(_read(file, view, item), expected()[step])


def _read(file: h5py.File, view: Path, item: ET.Element) -> np.ndarray:  # type: ignore[type-arg]
    """`file:/array`, or a box of it: `file:/array|start:stride:count:whole`."""
    found = re.fullmatch(r"(.*?):(/[^|]*)(?:\|(.*))?", (item.text or "").strip())
    assert found is not None
    name, array, selection = found.groups()
    assert name == view.name
    values: np.ndarray = file[array][()]  # type: ignore[type-arg]
    if selection:
        start, stride, count, whole = ([int(n) for n in part.split()] for part in selection.split(":"))
        assert list(values.shape) == whole
        assert set(stride) == {1}
        values = values[tuple(slice(s, s + n) for s, n in zip(start, count, strict=True))][0]
    assert list(values.shape) == [int(n) for n in item.attrib["Dimensions"].split()]
    return values
