"""OTF2 archives as Score-P writes them: I/O records within and outside of regions, ranks, other events."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import otf2
import pytest
from otf2 import enums, events
from traces import chosen, packed, rows

from halcyon.errors import ConfigError
from halcyon.observe.pack import pack

READ, WRITE = enums.IoOperationMode.READ, enums.IoOperationMode.WRITE
BLOCKING = enums.IoOperationFlag.NONE


class Definitions:
    """What the events below refer to: two ranks on two nodes, a file, handles of POSIX and MPI-IO."""

    def __init__(self, archive: Any) -> None:
        make = archive.definitions
        tree = make.system_tree_node("machine")
        self.locations = []
        for rank in range(2):
            node = make.system_tree_node(f"n{rank}", class_name="node", parent=tree)
            group = make.location_group(f"Rank {rank}", system_tree_parent=node)
            self.locations.append(make.location("main thread", group=group))
        make.group("w", enums.GroupType.COMM_LOCATIONS, paradigm=enums.Paradigm.MPI, members=self.locations[::-1])
        file = make.io_regular_file("/data/out", scope=tree)
        posix = make.io_paradigm("POSIX", "POSIX I/O", enums.IoParadigmClass.SERIAL, enums.IoParadigmFlag.OS)
        mpiio = make.io_paradigm("MPI-IO", "MPI-IO", enums.IoParadigmClass.PARALLEL, enums.IoParadigmFlag.NONE)
        self.posix = make.io_handles.create("", file, posix, enums.IoHandleFlag.NONE)
        self.mpiio = make.io_handles.create("", file, mpiio, enums.IoHandleFlag.NONE)
        self.main = make.region("main")
        self.write = make.region("write", region_role=enums.RegionRole.FILE_IO)
        self.open = make.region("open64", region_role=enums.RegionRole.FILE_IO_METADATA)
        self.write_at = make.region("MPI_File_write_at", region_role=enums.RegionRole.FILE_IO)


def archive(folder: Path, *made: Callable[[Definitions], list[Any]]) -> Path:
    """An archive whose clock ticks every 10 ns and begins at 1000; `made` gives the events of each location."""
    with otf2.writer.open(str(folder), timer_resolution=10**8) as written:
        known = Definitions(written)
        for location, events_of in zip(known.locations, made, strict=False):
            writer = written.event_writer_from_location(location)
            for event in events_of(known):
                writer(event)
    return folder


def test_regions_of_file_io_are_calls(tmp_path: Path) -> None:
    def rank(known: Definitions) -> list[Any]:
        ways = enums.IoAccessMode.READ_WRITE, enums.IoCreationFlag.CREATE, enums.IoStatusFlag.NONE
        return [
            events.Enter(1000, known.main),
            events.Enter(1010, known.open),
            events.IoCreateHandle(1011, known.posix, *ways),
            events.Leave(1012, known.open),
            events.Enter(1020, known.write_at),
            events.IoOperationBegin(1020, known.mpiio, WRITE, BLOCKING, 100, 1),
            events.Enter(1022, known.write),
            events.IoOperationBegin(1022, known.posix, WRITE, BLOCKING, 100, 2),
            events.IoOperationComplete(1027, known.posix, 60, 2),
            events.Leave(1028, known.write),
            events.IoOperationComplete(1029, known.mpiio, 100, 1),
            events.Leave(1030, known.write_at),
            events.Leave(1100, known.main),
        ]

    with packed(archive(tmp_path / "a", rank), tmp_path / "run") as dataset:
        names = ("level", "call", "kind", "parent_call", "bytes", "moved", "start_ns", "duration_ns", "self_ns")
        assert chosen(rows(dataset, "calls"), *names) == [
            ("posix", "open64", "open", None, None, None, 100, 20, 20),
            ("mpiio", "MPI_File_write_at", "write", None, 100, 100, 200, 100, 40),
            ("posix", "write", "write", "MPI_File_write_at", 100, 60, 220, 60, 60),
        ]
        assert chosen(rows(dataset, "files"), "path") == [("/data/out",)]
        assert {row["file"] for row in rows(dataset, "calls")} == {0}
        assert dataset.info.duration_ns == 1000


def test_operations_outside_of_regions_are_calls(tmp_path: Path) -> None:
    def rank(known: Definitions) -> list[Any]:
        return [
            events.Enter(1000, known.main),
            events.IoOperationBegin(1010, known.posix, READ, BLOCKING, 8, 1),
            events.IoOperationBegin(1015, known.posix, WRITE, BLOCKING, 4, 2),  # both are under way
            events.IoOperationComplete(1020, known.posix, 8, 1),
            events.IoOperationComplete(1030, known.posix, 4, 2),
            events.Leave(1100, known.main),
        ]

    with packed(archive(tmp_path / "a", rank), tmp_path / "run") as dataset:
        assert chosen(rows(dataset, "calls"), "call", "parent", "moved", "start_ns", "duration_ns", "self_ns") == [
            ("read", None, 8, 100, 100, 100),
            ("write", None, 4, 150, 150, 150),
        ]


def test_a_region_of_several_operations_calls_the_further_ones(tmp_path: Path) -> None:
    def rank(known: Definitions) -> list[Any]:
        return [
            events.Enter(1000, known.write),
            events.IoOperationBegin(1000, known.posix, WRITE, BLOCKING, 8, 1),
            events.IoOperationComplete(1010, known.posix, 8, 1),
            events.IoOperationBegin(1010, known.posix, WRITE, BLOCKING, 4, 2),
            events.IoOperationComplete(1020, known.posix, 4, 2),
            events.Leave(1020, known.write),
        ]

    with packed(archive(tmp_path / "a", rank), tmp_path / "run") as dataset:
        assert chosen(rows(dataset, "calls"), "call", "parent", "moved", "start_ns", "duration_ns", "self_ns") == [
            ("write", None, 8, 0, 200, 100),
            ("write", 1, 4, 100, 100, 100),
        ]


def test_ranks_and_hosts_are_those_of_the_definitions(tmp_path: Path) -> None:
    def rank(known: Definitions) -> list[Any]:
        return [events.Enter(1000, known.write), events.Leave(1001, known.write)]

    with packed(archive(tmp_path / "a", rank, rank), tmp_path / "run") as dataset:
        assert chosen(rows(dataset, "processes"), "rank", "host", "calls") == [(1, "n0", 1), (0, "n1", 1)]
        assert dataset.info.ranks == 2


def test_calls_that_do_not_end_are_told_of(tmp_path: Path) -> None:
    def rank(known: Definitions) -> list[Any]:
        return [events.Enter(1000, known.main), events.Enter(1010, known.write), events.Enter(1050, known.main)]

    with packed(archive(tmp_path / "a", rank), tmp_path / "run") as dataset:
        assert chosen(rows(dataset, "calls"), "start_ns", "duration_ns") == [(100, 400)]
        assert chosen(rows(dataset, "absences"), "what", "subject") == [
            ("partial", "1 calls that did not end within the trace")
        ]


def test_other_events_are_counted(tmp_path: Path) -> None:
    def rank(known: Definitions) -> list[Any]:
        switch = enums.MeasurementMode.OFF
        return [events.MeasurementOnOff(1000, switch), events.MeasurementOnOff(1001, switch)]

    with packed(archive(tmp_path / "a", rank), tmp_path / "run") as dataset:
        assert chosen(rows(dataset, "facts"), "key", "value") == [("otf2.events.MeasurementOnOff", "2")]
        assert rows(dataset, "calls") == []


def test_a_folder_of_two_archives_is_refused(tmp_path: Path) -> None:
    for name in ("a.otf2", "b.otf2"):
        (tmp_path / name).touch()
    with pytest.raises(ConfigError, match=r"2 files \*\.otf2; expected the anchor file of one archive"):
        pack(tmp_path, tmp_path.parent / "none")
