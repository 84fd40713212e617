"""Which variables a recording keeps: those that change how MPI-IO and HDF5 do their I/O."""

import pytest

from halcyon.observe.recording.folder import Recording


@pytest.mark.parametrize(
    "name",
    [
        "ROMIO_HINTS", "OMPI_MCA_io", "OMPI_MCA_io_ompio_num_aggregators", "OMPI_MCA_fcoll",
        "OMPI_MCA_fs_ufs_lock_type",
        "OMPI_MCA_fbtl_posix_write_datasieving", "MPICH_MPIIO_HINTS", "HDF5_USE_FILE_LOCKING",
    ],
)  # fmt: skip
def test_what_changes_io_is_kept(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "7")
    monkeypatch.setenv("OMPI_MCA_btl", "tcp,self")
    kept = Recording.of(["./model"], ["posix"], 0.0).environment
    assert kept[name] == "7"
    assert "OMPI_MCA_btl" not in kept
