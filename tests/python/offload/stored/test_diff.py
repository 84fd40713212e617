"""halcyon.offload.diff: equal data is equal wherever it lies, and every kind of difference is found."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from store_sample import write_sample

from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.offload.diff import diff, largest_differences
from halcyon.offload.difference_size import DifferenceSize
from halcyon.verbs.diff import iteration_range


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_sample(tmp_path / "a", "plain")
    return tmp_path / "a"


@pytest.fixture
def copy(run: Path) -> Path:
    return Path(shutil.copytree(run, run.parent / "b"))


def change(folder: Path, name: str = "sim.n0001.i00000002.h5") -> h5py.File:
    return h5py.File(folder / name, "r+")


def test_a_run_equals_its_copy(run: Path, copy: Path) -> None:
    assert diff(run, copy) == []
    assert diff(run / "sim.n0000.i00000000.h5", copy / "sim.n0000.i00000000.h5") == []


def test_the_number_of_iterations_per_file_does_not_matter(run: Path, tmp_path: Path) -> None:
    write_sample(tmp_path / "single", "single")
    assert diff(run, tmp_path / "single") == []


def test_nan_equals_nan_and_nothing_else(run: Path, copy: Path) -> None:
    for folder in (run, copy):
        with change(folder) as file:
            file["theta/d000002"][0, 1, 2, 3] = np.nan
    assert diff(run, copy) == []
    with change(copy) as file:
        file["theta/d000002"][0, 1, 2, 3] = 1
    (difference,) = diff(run, copy)
    assert str(difference) == "theta, domain 2, iteration 2: 1 of 120 values, the first at [1, 2, 3]: nan | 1.0"
    assert difference.size == DifferenceSize(0, 0, endless=1)


def test_one_changed_value_is_found_with_its_place(run: Path, copy: Path) -> None:
    with change(copy) as file:
        file["steps/d000003"][1] = 77
    (difference,) = diff(run, copy)
    assert str(difference) == "steps, domain 3, iteration 3: 1 of 1 values, the first at []: 33 | 77"


def test_the_largest_differences_of_each_dataset_are_said(run: Path, copy: Path) -> None:
    added = {(0, 1, 2, 3): 0.5, (1, 1, 2, 3): -4.0, (1, 0, 0, 0): np.inf}
    with change(copy) as file, change(run) as original:
        values, before = file["theta/d000002"], original["theta/d000002"]
        for place in added:
            before[place] = 100
            values[place] = 100 + added[place]
        before[0, 0, 0, 0] = 0
        values[0, 0, 0, 0] = 1e-3
        original["steps/d000003"][1] = 30
        file["steps/d000003"][1] = 24
    assert largest_differences(diff(run, copy)) == {
        "theta": DifferenceSize(pytest.approx(4.0), pytest.approx(1.0), endless=1),
        "steps": DifferenceSize(6, 0.2),
    }
    assert (
        str(largest_differences(diff(copy, run))["theta"]) == "largest difference 4, relative 1; 1 with NaN or infinity"
    )


def test_an_absent_block_is_found(run: Path, copy: Path) -> None:
    with change(copy) as file:
        del file["theta/d000003"]
    assert [str(d) for d in diff(run, copy)] == [
        "theta, domain 3, iteration 2: there | absent",
        "theta, domain 3, iteration 3: there | absent",
    ]


def test_an_absent_file_is_found(run: Path, copy: Path) -> None:
    (copy / "sim.n0000.i00000002.h5").unlink()
    (copy / "sim.n0001.i00000002.h5").unlink()
    found = [str(d) for d in diff(run, copy)]
    assert found[0] == "iterations: only here: 2, 3 | none of its own"
    assert "particles, domain 0, iteration 2: there | absent" in found


def test_descriptions_and_places_are_compared(run: Path, copy: Path) -> None:
    with change(copy) as file:
        file["theta"].attrs["unit"] = "degC"
        file["theta/d000002"].attrs.modify("offset", np.array([0, 5, 0]))
    found = [str(d) for d in diff(run, copy)]
    assert "theta: attribute unit: K | K and, in other files, degC" in found
    assert "theta, domain 2, iteration 2: offset: (0, 4, 0) | (0, 5, 0)" in found


def test_records_of_missing_blocks_are_compared(run: Path, tmp_path: Path) -> None:
    write_sample(tmp_path / "missing", "missing")
    found = [str(d) for d in diff(run, tmp_path / "missing")]
    assert "theta, rank 3, block 0, iteration 3: recorded as missing (client_died): no | yes" in found
    assert "theta, domain 3, iteration 3: there | absent" in found


def test_types_and_shapes_are_compared(run: Path, copy: Path) -> None:
    for name, values in {"theta": np.zeros((2, 3, 4, 10)), "flags": np.zeros((2, 3, 4, 9), "i4")}.items():
        with change(copy) as file:
            attributes = dict(file[name]["d000002"].attrs)
            del file[name]["d000002"]
            file[name]["d000002"] = values
            file[name]["d000002"].attrs.update(attributes)
    found = [str(d) for d in diff(run, copy)]
    assert "theta, domain 2, iteration 2: type: float32 | float64" in found
    assert "flags, domain 2, iteration 3: shape: (3, 4, 10) | (3, 4, 9)" in found


def test_a_later_part_replaces_an_earlier_one(run: Path, copy: Path) -> None:
    part = copy / "sim.n0001.i00000002.p01.h5"
    shutil.copy(copy / "sim.n0001.i00000002.h5", part)
    with change(copy) as file:
        file["theta/d000002"][...] = 0
    assert diff(run, copy) == []


def test_unpublished_parts_are_ignored(run: Path, copy: Path) -> None:
    shutil.copy(copy / "sim.n0001.i00000002.h5", copy / ".sim.n0001.i00000002.p01.h5")
    with change(copy, ".sim.n0001.i00000002.p01.h5") as file:
        file["theta/d000002"][...] = 0
    assert diff(run, copy) == []


def test_other_hdf5_files_are_compared_by_dataset(tmp_path: Path) -> None:
    for name, last in (("a", 3.0), ("b", 4.0)):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["group/theta"] = [1.0, np.nan, last]
            file["group/theta"].attrs["units"] = name
        assert diff(tmp_path / f"{name}.h5", tmp_path / f"{name}.h5") == []
    assert [str(d) for d in diff(tmp_path / "a.h5", tmp_path / "b.h5")] == [
        "/group/theta: 1 of 3 values, the first at [2]: 3.0 | 4.0",
        "/group/theta: attribute units: 'a' | 'b'",
    ]


def test_only_the_wanted_iterations_are_compared(run: Path, copy: Path) -> None:
    with change(copy) as file:
        file["steps/d000003"][1] = 77  # iteration 3
    assert diff(run, copy, range(3)) == []
    assert len(diff(run, copy, range(3, 4))) == 1
    for path in (copy / "sim.n0000.i00000002.h5", copy / "sim.n0001.i00000002.h5"):
        path.unlink()
    assert diff(run, copy, iteration_range(":1")) == []
    assert len(diff(run, copy, iteration_range("1:"))) > 1


@pytest.mark.parametrize("text", ["3", "a:b", "-1:2", "1:2:3"])
def test_what_is_no_range_of_iterations_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="FIRST:LAST"):
        iteration_range(text)


def test_a_range_that_ends_before_it_begins_is_refused(run: Path, copy: Path) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"'7:3' ends before it begins; FIRST:LAST, as in 3:7"):
        iteration_range("7:3")
    with pytest.raises(UsageError, match="no iteration lies from 5 to 2"):
        diff(run, copy, range(5, 3))
    command = [sys.executable, "-m", "halcyon", "diff", "--iterations", "3:1", run, copy]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'3:1' ends before it begins" in done.stderr


def test_iterations_that_neither_has_are_refused(run: Path, copy: Path) -> None:
    with pytest.raises(UsageError, match=r"neither side has any of these iterations: .*/a has 0 to 3; .*/b has 0 to 3"):
        diff(run, copy, iteration_range("7:9"))


def test_a_description_in_any_file_counts(run: Path, copy: Path) -> None:
    with change(copy, "sim.n0000.i00000000.h5") as file:
        file["theta"].attrs["description"] = "of another run"
        del file["theta"].attrs["unit"]
    found = [str(d) for d in diff(run, copy)]
    assert len(found) == 2
    assert found[0].startswith("theta: attribute description: ")
    assert "of another run" in found[0].split(" | ")[1]
    assert found[1] == "theta: attribute unit: K | K and, in other files, absent"


def test_a_run_without_any_file_differs(run: Path, copy: Path) -> None:
    for folder in (run, copy):
        (folder / "run.json").write_text('{"approach": "halcyon"}')
    lose_files(copy)
    found = [str(d) for d in diff(run, copy)]
    assert found[0] == "iterations: only here: 0, 1, 2, 3 | none of its own"
    assert "variable theta: there | absent" in found
    assert [d.a for d in diff(copy, run)[:1]] == ["none of its own"]
    lose_files(run)
    with pytest.raises(UsageError, match=r"neither .* nor .* holds data files"):
        diff(run, copy)


def lose_files(folder: Path) -> None:
    """All but the view."""
    for path in folder.glob("sim.n*.h5"):
        path.unlink()
    assert (folder / "sim.h5").exists()


def test_a_view_without_its_files_is_no_view(run: Path, copy: Path) -> None:
    (copy / "sim.n0000.i00000000.h5").unlink()
    with pytest.raises(HalcyonSystemError, match=r"sim\.h5: shows data of sim\.n0000\.i00000000\.h5, which is"):
        diff(run / "sim.h5", copy / "sim.h5")


def test_views_are_compared_value_for_value(run: Path, copy: Path) -> None:
    assert diff(run / "sim.h5", copy / "sim.h5") == []
    with change(copy) as file:
        file["theta/d000002"][0, 1, 2, 3] = 0
    assert len(diff(run / "sim.h5", copy / "sim.h5")) == 1


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no HDF5 files"):
        diff(tmp_path, tmp_path)
    with pytest.raises(UsageError, match="neither a directory nor a file"):
        diff(tmp_path / "absent", tmp_path)
    (tmp_path / "bad.h5").write_text("not HDF5")
    with pytest.raises(HalcyonSystemError, match=r"bad\.h5: not readable as HDF5"):
        diff(tmp_path / "bad.h5", tmp_path / "bad.h5")


DAMAGE = """
import random, sys
from pathlib import Path
from halcyon.offload.diff import diff
from halcyon.errors import HalcyonError

whole, damaged, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
outcomes = {"equal": 0, "different": 0, "refused": 0}
for file in (damaged / "sim.n0001.i00000002.h5", damaged / "sim.n0000.i00000000.h5"):
    data = file.read_bytes()
    for _ in range(30):
        broken = bytearray(data)
        if chance.random() < 0.3:
            del broken[chance.randrange(len(broken)) :]
        else:
            for _ in range(chance.choice((1, 4, 64))):
                broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        file.write_bytes(broken)
        try:
            outcomes["different" if diff(whole, damaged) else "equal"] += 1
        except HalcyonError as refused:
            assert str(file) in str(refused), refused
            outcomes["refused"] += 1
    file.write_bytes(data)
print(outcomes)
assert min(outcomes["different"], outcomes["refused"]) > 0
"""


@pytest.mark.parametrize("seed", range(2))
def test_damaged_files_are_an_error_that_names_the_file(run: Path, copy: Path, seed: int) -> None:
    """Cut off anywhere, and with bits turned anywhere; in a process of its own, should HDF5 not survive one."""
    words = [sys.executable, "-c", DAMAGE, str(run), str(copy), str(seed)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
