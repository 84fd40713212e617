"""The table of recorded functions, as Python looks it up, and the sets of names that stand on it."""

import re

import pytest

from halcyon.compiled import core
from halcyon.observe import call_table
from halcyon.observe.analysis import collectives, metadata, survey
from halcyon.observe.findings import collective_setup
from halcyon.observe.readers import functions as foreign
from halcyon.observe.readers import recorder_arguments
from halcyon.observe.schema import Kind, Level

COLLECTIVE = {
    "open",
    "close",
    "set_size",
    "preallocate",
    "sync",
    "set_view",
    "set_info",
    "set_atomicity",
    "seek_shared",
}
"""Of MPI_File_…, besides transfers whose names say so: MPI 4.1, 14."""


def test_words_of_data_sets_are_the_recorders() -> None:
    assert tuple(Level) == core().CALL_LEVELS
    assert tuple(Kind) == core().CALL_KINDS


def test_rows_say_what_the_table_says() -> None:
    known = call_table.functions()
    assert len(known) == len(core().call_table())
    pwrite = known["pwrite"]
    assert (pwrite.level, pwrite.kind, pwrite.argument) == (Level.POSIX, Kind.WRITE, "")
    assert {"pwrite64", "__pwrite64"} < set(pwrite.symbols)
    assert known["MPI_File_open"].argument == "access mode"
    assert "PMPI_File_open" in known["MPI_File_open"].spellings
    assert known["H5Dread"].level == Level.HDF5


def test_collective_functions_are_those_of_the_standard() -> None:
    for name, one in call_table.functions().items():
        call = name.removeprefix("MPI_File_")
        named_so = bool(re.search(r"_all(_begin|_end)?$|_ordered(_begin|_end)?$", call))
        assert one.collective == (name.startswith("MPI_File_") and (named_so or call in COLLECTIVE)), name


def test_ends_of_split_collectives_have_the_direction_of_their_begin() -> None:
    known = call_table.functions()
    assert known["MPI_File_write_at_all_end"].direction == Kind.WRITE
    assert known["MPI_File_read_ordered_end"].direction == Kind.READ
    assert known["MPI_Wait"].direction is None
    assert "MPI_File_write_at_all_end" in call_table.mpiio_transfers(Kind.WRITE)


def test_nonblocking_transfers_count_as_collective_and_take_no_part_in_times() -> None:
    assert "MPI_File_iwrite_all" in call_table.collective_transfers()
    assert not {"MPI_File_iwrite", "MPI_File_iwrite_all"} & call_table.mpiio_transfers(Kind.WRITE)


def test_ranks_meet_in_collective_calls_but_in_those_that_are_named() -> None:
    meeting = set(collectives.meeting_functions())
    assert {"MPI_File_open", "MPI_File_set_view", "MPI_File_write_all", "MPI_File_read_ordered_begin"} < meeting
    assert not meeting & set(collectives.UNWATCHED)
    assert collective_setup.setup_functions() < meeting


@pytest.mark.parametrize("names", [survey.SETUP, collectives.UNWATCHED], ids=["begin and end of MPI", "unwatched"])
def test_names_that_are_kept_by_hand_are_in_the_table(names: tuple[str, ...]) -> None:
    assert set(names) <= set(call_table.functions())


def test_of_directories_what_is_buffered_and_what_is_not_is_known() -> None:
    called = (one for one in call_table.functions().values() if one.level != Level.LOG)
    recorded = {one.name for one in called if one.kind == Kind.DIRECTORY}
    assert recorded - set(metadata.BUFFERED) == {"opendir", "closedir", "getdents64"}
    assert {foreign.kind_of(name) for name in metadata.BUFFERED} == {Kind.DIRECTORY}


def test_other_tools_names_of_recorded_functions_mean_what_the_table_says() -> None:
    for one in call_table.functions().values():
        if one.level == Level.MPIIO and not one.name.startswith("MPI_File_"):
            continue  # other tools record them of all requests, not of those of files alone
        for spelling in one.spellings:
            assert (foreign.level_of(spelling), foreign.kind_of(spelling)) == (one.level, one.kind), spelling


def test_names_that_other_tools_alone_know_are_not_in_the_table() -> None:
    recorded = {foreign.undecorated(spelling) for one in call_table.functions().values() for spelling in one.spellings}
    assert not recorded & set(foreign._OTHERS)
    assert (foreign.level_of("ftell"), foreign.kind_of("ftell")) == (Level.STDIO, Kind.SEEK)


@pytest.mark.parametrize(
    ("name", "level", "kind"),
    [
        ("__xstat64", Level.POSIX, Kind.STAT),
        ("PMPI_File_write_at_all", Level.MPIIO, Kind.WRITE),
        ("MPI_File_set_errhandler", Level.MPIIO, Kind.CONTROL),
        ("MPI_Wait", None, Kind.WAIT),
        ("MPI_Bcast", None, Kind.CONTROL),
        ("H5Dwrite_async", Level.HDF5, Kind.WRITE),
        ("H5Gcreate", Level.HDF5, Kind.NAMESPACE),
        ("H5Pcreate", Level.HDF5, Kind.CONTROL),
        ("exit", Level.STDIO, Kind.SYNC),
        ("_exit", Level.POSIX, Kind.CONTROL),
        ("something", Level.POSIX, Kind.CONTROL),
    ],
)
def test_names_of_other_tools(name: str, level: Level | None, kind: Kind) -> None:
    assert (foreign.level_of(name), foreign.kind_of(name)) == (level, kind)


def test_arguments_that_recorder_writes_are_of_recorded_functions() -> None:
    recorded = {foreign.undecorated(spelling) for one in call_table.functions().values() for spelling in one.spellings}
    alone = {"getcwd", "umask", "pipe"}
    for pattern in "|".join(recorder_arguments._C).split("|"):
        assert pattern in alone or any(re.fullmatch(pattern, name) for name in recorded), pattern
