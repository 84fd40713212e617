"""Darshan's logs against pydarshan's own tables."""

import struct
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import darshan
import pytest
from traces import DATA, chosen, packed, rows

from halcyon.observe.dataset import Dataset

LOGS = sorted((DATA / "darshan").glob("*.darshan"))
PackedOnce = Callable[[Path], Dataset]


@pytest.fixture(scope="module", params=LOGS, ids=lambda path: path.stem)
def log(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@cache
def report_of(log: Path) -> Any:
    return darshan.DarshanReport(str(log), read_all=True)


@pytest.fixture(scope="module")
def report(log: Path) -> Any:
    return report_of(log)


@pytest.fixture(scope="module")
def dataset(log: Path, packed_once: PackedOnce) -> Dataset:
    return packed_once(log)


def test_counters_are_pydarshans(dataset: Dataset, report: Any) -> None:
    paths = dict(chosen(rows(dataset, "files"), "file", "path"))
    found = {
        (row["module"], row["process"], paths.get(row["file"]), row["counter"]): (row["integer"], row["real"])
        for row in rows(dataset, "counters")
    }
    compared = 0
    for module in set(report.records) & {"POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR"}:
        tables = report.records[module].to_df()
        for table, at in (("counters", 0), ("fcounters", 1)):
            for record in tables[table].to_dict("records"):
                path = report.name_records[record.pop("id")]
                rank = record.pop("rank")
                for counter, value in record.items():
                    own = found[module, None if rank == -1 else rank, path, counter]
                    assert own[at] == value
                    assert own[1 - at] is None
                    compared += 1
    assert compared > 100


def test_every_module_is_somewhere(dataset: Dataset, report: Any) -> None:
    modules = {row["module"] for row in rows(dataset, "counters")}
    expected = {name for name in report.modules if not name.startswith("DXT") and name != "HEATMAP"}
    assert modules == expected
    assert bool(rows(dataset, "activity")) == ("HEATMAP" in report.modules)
    assert bool(rows(dataset, "calls")) == any(name.startswith("DXT") for name in report.modules)


def test_run_and_processes_are_those_of_the_job(dataset: Dataset, report: Any) -> None:
    job = report.metadata["job"]
    assert dataset.info.ranks == job["nprocs"]
    assert dataset.info.start == pytest.approx(job["start_time_sec"] + job["start_time_nsec"] / 1e9)
    assert dataset.info.duration_ns == pytest.approx(job["run_time"] * 1e9)
    assert dataset.info.command == report.metadata["exe"]
    assert dataset.info.source == f"darshan {job['metadata']['lib_ver']}"
    assert [row["rank"] for row in rows(dataset, "processes")] == list(range(job["nprocs"]))


def test_modules_cut_short_are_named(dataset: Dataset, report: Any) -> None:
    partial = {row["subject"] for row in rows(dataset, "absences") if row["what"] == "partial"}
    assert partial == {name for name, known in report.modules.items() if known["partial_flag"]}


def test_dxt_segments_become_calls(packed_once: PackedOnce) -> None:
    path = DATA / "darshan" / "mpi-io-test-dxt.darshan"
    report = report_of(path)
    expected = []
    for module, level in (("DXT_POSIX", "posix"), ("DXT_MPIIO", "mpiio")):
        for record in report.records[module]:
            for kind in ("read", "write"):
                expected += [
                    (
                        *(level, kind, record["rank"], report.name_records[record["id"]]),
                        *(one["offset"], one["length"]),
                        *(round(one["start_time"] * 1e9), round(one["end_time"] * 1e9)),
                    )
                    for one in record[f"{kind}_segments"]
                ]
    dataset = packed_once(path)
    paths = dict(chosen(rows(dataset, "files"), "file", "path"))
    found = rows(dataset, "calls")
    assert sorted(
        (
            *(row["level"], row["kind"], row["process"], paths[row["file"]], row["offset"], row["moved"]),
            *(row["start_ns"], row["start_ns"] + row["duration_ns"]),
        )
        for row in found
    ) == sorted(expected)
    assert chosen(found, "process", "start_ns") == sorted(chosen(found, "process", "start_ns"))
    hosts = {row["host"] for row in rows(dataset, "processes")}
    assert hosts == {record["hostname"] for record in report.records["DXT_POSIX"]}
    assert {row["calls"] for row in rows(dataset, "processes")} == {18}


def test_heatmaps_become_activity(packed_once: PackedOnce) -> None:
    path = DATA / "darshan" / "e3sm_io_heatmap_only.darshan"
    report = report_of(path)
    dataset = packed_once(path)
    activity = rows(dataset, "activity")
    for module, heatmap in report.heatmaps.items():
        for kind in ("read", "write"):
            table = heatmap.to_df([kind], interval_index=False)
            own = [row for row in activity if (row["module"], row["kind"]) == (module, kind)]
            assert sum(row["bytes"] for row in own) == table.to_numpy().sum()
            width = heatmap._bin_width_seconds * 1e9
            for row in own:
                assert table.loc[row["process"], round(row["start_ns"] / width)] == row["bytes"]
                assert row["width_ns"] == round(width)


def test_lustre_layouts_become_servers_of_files(packed_once: PackedOnce) -> None:
    path = DATA / "darshan" / "imbalanced-io.darshan"
    report = report_of(path)
    dataset = packed_once(path)
    files = {row["path"]: row for row in rows(dataset, "files")}
    records = report.records["LUSTRE"].to_df()["components"].to_dict("records")
    assert len(records) > 1000
    for record in records:
        file = files[report.name_records[record["id"]]]
        assert file["servers"] == [f"OST{target}" for target in record["LUSTRE_OST_IDS"]]
        assert file["filesystem"] == "lustre"
        assert file["stripe_bytes"] == record["LUSTRE_COMP_STRIPE_SIZE"]


def test_mounts_and_the_hints_of_darshans_own_log_become_facts(packed_once: PackedOnce) -> None:
    dataset = packed_once(DATA / "darshan" / "e3sm_io_heatmap_only.darshan")
    facts = dict(chosen(rows(dataset, "facts"), "key", "value"))
    assert facts["darshan.log_hint.romio_no_indep_rw"] == "true"
    assert facts["darshan.log_hint.cb_nodes"] == "4"
    assert not any(key.startswith("mpi.hint.") for key in facts)
    assert facts["darshan.lib_ver"] == "3.3.1"
    assert facts["mount./"] == "overlay"
    assert facts["darshan.log_version"] == "3.21"


THREADS = (140_000_000_000_001, 140_000_000_000_002)
FIRST_MAP = 24
"""Where a log of version 3.21 has its table of places; 17 of them, then the modules' versions."""


def newer(log: Path, target: Path, versions: dict[str, int]) -> Path:
    """A copy in which DXT's modules have these versions, and a thread in each segment as newer Darshan writes it.

    Every second segment of a record is of the second thread. The modules' new bytes are put at the end of the log.
    """
    content = bytearray(log.read_bytes())
    modules = darshan.DarshanReport(str(log), read_all=False).modules
    for name, version in versions.items():
        places = [struct.unpack_from("<QQ", content, FIRST_MAP + 16 * number) for number in range(17)]
        number = next(n for n, (_, length) in enumerate(places) if n and length == modules[name]["len"])
        begin, length = places[number]
        packed_anew = zlib.compress(with_threads(unpacked(bytes(content[begin : begin + length]))))
        struct.pack_into("<QQ", content, FIRST_MAP + 16 * number, len(content), len(packed_anew))
        struct.pack_into("<I", content, FIRST_MAP + 16 * 17 + 4 * (number - 1), version)
        content += packed_anew
    target.write_bytes(content)
    return target


def unpacked(raw: bytes) -> bytes:
    content = b""
    while raw:
        stream = zlib.decompressobj()
        content += stream.decompress(raw)
        raw = stream.unused_data
    return content


def with_threads(records: bytes) -> bytes:
    content, at = b"", 0
    while at < len(records):
        count = sum(struct.unpack_from("<qq", records, at + 88))
        content += records[at : at + 104]
        at += 104
        for segment in range(count):
            content += records[at : at + 32] + struct.pack("<Q", THREADS[segment % 2])
            at += 32
    return content


def test_dxt_of_newer_darshan_is_read_with_its_threads(tmp_path: Path, packed_once: PackedOnce) -> None:
    log = DATA / "darshan" / "mpi-io-test-dxt.darshan"
    own = newer(log, tmp_path / "newer.darshan", {"DXT_POSIX": 2, "DXT_MPIIO": 3})
    names = ("process", "level", "kind", "offset", "moved", "start_ns", "duration_ns")
    old = packed_once(log)
    with packed(own, tmp_path / "new") as new:
        found = rows(new, "calls")
        assert sorted(chosen(found, *names)) == sorted(chosen(rows(old, "calls"), *names))
        assert {row["thread"] for row in found} == {0, 1}
        assert {row["thread"] for row in rows(old, "calls")} == {None}
        assert not any("all transfers" in row["subject"] for row in rows(new, "absences"))


def test_dxt_of_an_unknown_version_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    log = newer(
        DATA / "darshan" / "mpi-io-test-dxt.darshan", tmp_path / "newer.darshan", {"DXT_POSIX": 3, "DXT_MPIIO": 3}
    )
    with packed(log, tmp_path / "new") as dataset:
        assert {row["level"] for row in rows(dataset, "calls")} == {"mpiio"}
        assert "POSIX" in {row["module"] for row in rows(dataset, "counters")}
        (said,) = [row for row in rows(dataset, "absences") if row["subject"] == "DXT_POSIX: all transfers"]
        assert said["detail"] == "version 3 of its format, newer than 2, is not known; counters tell their sums"
