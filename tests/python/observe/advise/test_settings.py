"""Settings are read from text, and given to each library in the way that it reads."""

from pathlib import Path

import pytest
from observe.advise.conftest import hints_of

from halcyon.errors import UsageError
from halcyon.observe.advise.library import recipe
from halcyon.observe.advise.report_text import how_to_set
from halcyon.observe.advise.settings import Setting, parse_settings
from halcyon.observe.mpi_library import Family, Library, MpiIo, library_of, mpiio_of

MPICH = Library(Family.ROMIO, 4)
SIEVING_OFF = (Setting("romio_ds_write", "disable"),)


def test_several_settings_are_read_from_one_text() -> None:
    assert parse_settings("romio_cb_write=enable,cb_buffer_size=4MiB,cb_config_list=*:2,n1:*") == (
        Setting("romio_cb_write", "enable"),
        Setting("cb_buffer_size", "4194304"),
        Setting("cb_config_list", "*:2,n1:*"),
    )


@pytest.mark.parametrize(
    "text", ["romio_ds_write", "=1", "romio_ds_write=off", "cb_nodes=0", "cb_nodes=2x", "cb_buffer_size=4 miles"]
)
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--setting"):
        parse_settings(text)


def test_hints_go_into_a_file_beside_those_that_the_user_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").write_text("cb_nodes 3\nromio_ds_write automatic\n")
    monkeypatch.setenv("ROMIO_HINTS", str(tmp_path / "mine"))
    variables = recipe(SIEVING_OFF, MPICH).environment(tmp_path / "hints")
    assert Path(variables["ROMIO_HINTS"]).read_text().splitlines() == ["cb_nodes 3", "romio_ds_write disable"]


def test_parameters_are_variables_of_the_environment(tmp_path: Path) -> None:
    own = recipe((Setting("OMPI_MCA_fcoll", "vulcan"),), Library(Family.OPEN_MPI, 4))
    assert own.environment(tmp_path / "hints") == {"OMPI_MCA_fcoll": "vulcan"}
    assert not (tmp_path / "hints").exists()


@pytest.mark.parametrize(("major", "component"), [(4, "romio321"), (5, "romio341")])
def test_open_mpi_reads_hints_through_its_romio_only(tmp_path: Path, major: int, component: str) -> None:
    variables = recipe(SIEVING_OFF, Library(Family.OPEN_MPI, major)).environment(tmp_path / "hints")
    assert variables["OMPI_MCA_io"] == component
    assert hints_of(variables) == {"romio_ds_write": "disable"}


def test_cray_reads_hints_from_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPICH_MPIIO_HINTS", "log*:cb_nodes=1")
    variables = recipe(SIEVING_OFF, Library(Family.CRAY, 8)).environment(tmp_path / "hints")
    assert variables == {"MPICH_MPIIO_HINTS": "log*:cb_nodes=1,*:romio_ds_write=disable"}


@pytest.mark.parametrize(
    ("text", "library"),
    [
        ("MPICH Version:\t4.0.2\nMPICH Release date:", Library(Family.ROMIO, 4)),
        ("Open MPI v4.1.4, package: Debian OpenMPI", Library(Family.OPEN_MPI, 4)),
        ("MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)", Library(Family.CRAY, 8)),
        (None, Library(Family.ROMIO, 0)),
    ],
)
def test_libraries_are_told_apart(text: str | None, library: Library) -> None:
    assert library_of(text) == library


@pytest.mark.parametrize(
    ("text", "hints", "component", "used"),
    [
        ("MPICH Version:\t4.0.2", [], None, MpiIo.ROMIO),
        ("Intel(R) MPI Library 2021.10 for Linux* OS", [], None, MpiIo.ROMIO),
        ("Open MPI v4.1.4, package: Debian OpenMPI", ["cb_nodes"], None, MpiIo.OMPIO),
        ("Open MPI v4.1.4, package: Debian OpenMPI", ["cb_nodes", "romio_cb_write"], None, MpiIo.ROMIO),
        (None, ["romio_cb_write"], None, MpiIo.ROMIO),
        ("Open MPI v4.1.4", [], "romio321", MpiIo.ROMIO),
        ("Open MPI v4.1.4", [], "^ompio", MpiIo.ROMIO),
        ("Open MPI v4.1.4", [], "^romio321", MpiIo.OMPIO),
        ("Open MPI v4.1.4", [], "ompio", MpiIo.OMPIO),
        ("Open MPI v4.1.4", [], "ompio,romio321", MpiIo.OMPIO),
        ("Open MPI v4.1.4", [], "romio321,ompio", MpiIo.OMPIO),
        ("Open MPI v4.1.4", [], "^romio321,ompio", MpiIo.ROMIO),
        ("Open MPI v5.0.3", [], "romio341", MpiIo.ROMIO),
        (None, ["cb_nodes"], None, MpiIo.UNKNOWN),
    ],
)
def test_the_library_and_its_hints_tell_which_mpiio_it_was(
    text: str | None, hints: list[str], component: str | None, used: MpiIo
) -> None:
    assert mpiio_of(library_of(text), hints, component) == used


def test_lines_for_the_shell_set_what_was_tried(tmp_path: Path) -> None:
    import subprocess

    lines = how_to_set((*SIEVING_OFF, Setting("OMPI_MCA_fcoll", "vulcan"), Setting("cb_config_list", "*:2")), MPICH)
    script = "\n".join([*lines, 'cat "$ROMIO_HINTS"; echo $OMPI_MCA_fcoll'])
    said = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["romio_ds_write disable", "cb_config_list *:2", "vulcan"]
