"""What can be varied for a command follows from its first run; striping is set before each run."""

import json
from pathlib import Path

import pytest

from halcyon.cli import main
from halcyon.errors import UnavailableError, UsageError
from halcyon.observe.advise.run_facts import RunFacts
from halcyon.observe.advise.settings import named
from halcyon.observe.advise.sweep.command import MIB, check_swept, reach, settings_at
from halcyon.observe.advise.sweep.space import Parameter
from halcyon.observe.advise.sweep.striping import LFS, Striping, striping_of, targets_near
from halcyon.observe.mpi_library import Family, Library

POINT = (("striping_factor", 8), ("striping_unit", MIB), ("cb_nodes", 4))


def facts(
    file: Path | str = "/scratch/out", kind: str = "lustre", *, collective: bool = True, driver: str = "LUSTRE:"
) -> RunFacts:
    return RunFacts(
        Library(), {"romio_filesystem_type": {driver}, "cb_nodes": {"2"}, "cb_buffer_size": {str(16 * MIB)}}, {}, 8, 2,
        {str(file): kind}, 1, {"write": collective, "read": False}, {}, {}, {},
    )  # fmt: skip


@pytest.fixture
def lfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for Lustre's tool: writes down what it is told, knows six targets of which five are active."""
    program = tmp_path / "bin/lfs"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/said\n'
        '[ "$1" = osts ] && for n in 0 1 2 3 4; do echo "$n: fs-OST000${n}_UUID ACTIVE"; done\n'
        '[ "$1" = osts ] && echo "5: fs-OST0005_UUID INACTIVE"\nexit 0\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return tmp_path / "said"


def test_on_lustre_all_four_are_varied(lfs: Path) -> None:
    found = reach(facts())
    assert {one.name: one.values for one in found.space.parameters} == {
        "striping_factor": (1, 2, 4, 5),
        "striping_unit": tuple(MIB << step for step in range(9)),
        "cb_nodes": (1, 2, 4, 8),
        "cb_buffer_size": tuple(MIB << step for step in range(7)),
    }
    assert found.start["cb_nodes"] == 2
    assert found.left_out == []


def test_where_striping_cannot_be_set_the_rest_is_varied() -> None:
    found = reach(facts(kind="ext4"))
    assert [one.name for one in found.space.parameters] == ["cb_nodes", "cb_buffer_size"]
    assert found.left_out == ["striping: the files lie on ext4, where it cannot be set"]


def test_without_collective_calls_aggregators_have_no_part(lfs: Path) -> None:
    assert [one.name for one in reach(facts(collective=False)).space.parameters] == ["striping_factor", "striping_unit"]
    with pytest.raises(UsageError, match="nothing to vary"):
        reach(facts(kind="ext4", collective=False))


def test_values_of_the_user_take_the_place_of_all_others() -> None:
    own = Parameter.parse("cb_nodes=4,1")
    assert reach(facts(kind="ext4"), (own,)).space.parameters == (Parameter("cb_nodes", (1, 4)),)
    with pytest.raises(UsageError, match="striping_factor: has no part"):
        reach(facts(kind="ext4"), (Parameter.parse("striping_factor=4"),))


def test_aggregators_are_spread_over_the_nodes(lfs: Path) -> None:
    striping = striping_of(facts())
    assert named(settings_at(POINT, 2, striping)) == (
        "striping_factor=8, striping_unit=1048576, cb_nodes=4, cb_config_list=*:2"
    )


def test_without_a_driver_for_lustre_files_are_made_by_lfs(lfs: Path, tmp_path: Path) -> None:
    striping = striping_of(facts(tmp_path / "out", driver="UFS: Generic ROMIO driver"))
    assert striping is not None
    striping.prepare(POINT)
    assert lfs.read_text() == f"setstripe -c 8 -S 1048576 {tmp_path}/out\n"
    assert named(settings_at(POINT, 2, striping)) == "cb_nodes=4, cb_config_list=*:2"


def test_a_file_that_is_there_has_its_striping_already(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(UsageError, match="--before 'rm -f"):
        Striping((tmp_path / "out",), command=None).prepare(POINT)


def test_without_lfs_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="not installed here"):
        Striping((tmp_path / "out",), LFS).prepare(POINT)
    assert targets_near(tmp_path / "out") == 160


def test_open_mpis_own_io_reads_no_hints() -> None:
    own = facts()
    bare = RunFacts(Library(Family.OPEN_MPI, 4), {}, {}, 8, 2, {}, 0, own.collective, {}, {}, {})
    with pytest.raises(UsageError, match="OMPI_MCA_io=romio321"):
        check_swept(bare)


def test_independent_writes_on_a_local_disk_leave_nothing_to_sweep(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-o", str(tmp_path / "kept"), "--", *interleaved, str(tmp_path / "file"), "64", "64"]
    assert main(["advise", "--sweep", *words]) == 2
    said = capsys.readouterr().err
    assert "there is nothing to vary: striping: the files lie on" in said
    assert "aggregators: the transfers are not collective" in said


def test_collective_writes_are_swept(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = [*interleaved[:-1], interleaved[-1].replace("interleaved_writes", "interleaved_hdf5")]
    if not Path(program[-1]).exists():
        pytest.skip("needs the HDF5 of MPICH")
    output = tmp_path / "kept"
    command = [*program, str(tmp_path / "file"), "4096", "16", "2", "collective"]
    assert (
        main(["advise", "--sweep", "--runs", "5", "--values", "cb_nodes=1,2", "-o", str(output), "--", *command]) == 0
    )
    said = capsys.readouterr()
    assert "Leave it as it is" in said.out
    assert "did not take effect" not in said.out + said.err
    lines = (output / "measurements.csv").read_text().splitlines()
    assert lines[0] == "run,cb_nodes,bytes_per_s"
    assert {line.split(",")[1] for line in lines[1:]} == {"1", "2"}
    assert all(int(line.split(",")[2]) > 0 for line in lines[1:])
    assert (output / "one-parameter.png").exists()
    results = json.loads((output / "results.json").read_text())
    assert results["start"]["values"] == {"cb_nodes": 1}
    assert sum(len(point["bytes_per_s"]) for point in results["points"]) == len(lines) - 1
