"""Runs of which the source kept counters alone: what they tell is told, all else is null."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from observe.synthetic import MIB
from traces import DATA

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.dataset import Dataset, DatasetWriter
from halcyon.observe.findings import Finding, findings
from halcyon.observe.open_run import open_run
from halcyon.observe.report_tables import report_tables
from halcyon.observe.schema import TABLES, RunInfo
from halcyon.printed.plain import as_json

PREFIX = {"POSIX": "POSIX", "STDIO": "STDIO", "MPI-IO": "MPIIO"}


@dataclass
class Log:
    """Counters in the making; `record("POSIX", 0, None, READS=3)`: of file 0, all ranks together."""

    ranks: int = 4
    rows: list[dict[str, object]] = field(default_factory=list)
    absences: list[dict[str, object]] = field(default_factory=list)
    layouts: dict[int, tuple[int | None, list[str]]] = field(default_factory=dict)

    def record(self, module: str, file: int, rank: int | None, **counters: float) -> None:
        for name, value in counters.items():
            whole = isinstance(value, int)
            self.rows.append(
                {
                    "process": rank,
                    "file": file,
                    "module": module,
                    "counter": f"{PREFIX[module]}_{name}",
                    "integer": value if whole else None,
                    "real": None if whole else value,
                }
            )

    def writes(
        self, module: str, file: int, rank: int | None, calls: int, size: int, spent: float, **more: float
    ) -> None:
        """Writes of one size from second 1 to second 9."""
        collective = {"COLL_WRITES" if module == "MPI-IO" else "WRITES": calls}
        stamps = {"F_WRITE_START_TIMESTAMP": 1.0, "F_WRITE_END_TIMESTAMP": 9.0}
        sums = {"BYTES_WRITTEN": calls * size, "F_WRITE_TIME": spent}
        self.record(module, file, rank, **collective, **sums, **stamps, **more)  # type: ignore[arg-type]

    def store(self, directory: Path) -> Path:
        info = RunInfo("darshan 3.4", 1.7e9, 10_000_000_000, self.ranks)
        files = sorted({row["file"] for row in self.rows})  # type: ignore[type-var]
        with DatasetWriter(directory, info) as writer:
            writer.write("counters", pa.Table.from_pylist(self.rows, TABLES["counters"]))
            rows = []
            for file in files:
                stripe, servers = self.layouts.get(file, (None, None))  # type: ignore[arg-type]
                known = {"file": file, "path": f"/scratch/{file}", "block_bytes": 4096}
                rows.append(known | {"stripe_bytes": stripe, "servers": servers})
            writer.write("files", pa.Table.from_pylist(rows, TABLES["files"]))
            writer.write("absences", pa.Table.from_pylist(self.absences, TABLES["absences"]))
            ranks = range(self.ranks)
            writer.write(
                "processes", pa.table({"process": pa.array(ranks, pa.int32()), "rank": pa.array(ranks, pa.int32())})
            )
        return directory


def keys(log: Log, directory: Path) -> dict[str, Finding]:
    with Dataset.open(log.store(directory)) as dataset:
        return {one.key: one for one in findings(Answers(dataset))}


def test_bandwidths_are_what_counters_carry_and_no_more(tmp_path: Path) -> None:
    log = Log()
    log.writes("MPI-IO", 0, None, 8, MIB, 4.0)
    log.writes("POSIX", 0, None, 8, MIB, 2.0)
    with Dataset.open(log.store(tmp_path / "run")) as dataset:
        answers = Answers(dataset)
        whole = next(one for one in answers.bandwidths if one.file is None and one.kind == "write")
        assert whole.effective_mpi == pytest.approx(8 * MIB / 4)
        assert whole.effective_posix == pytest.approx(8 * MIB / 2)
        assert whole.perceived_mpi is None
        assert whole.perceived_posix is None
        assert whole.perceived_posix_low == pytest.approx(8 * MIB / 8)
        assert whole.perceived_posix_high == pytest.approx(8 * MIB / 2 * 4)
        assert answers.io_s == pytest.approx(4.0)  # MPI-IO's: that of POSIX is in it
        assert answers.bytes_moved == (0, 8 * MIB)
        (file,) = answers.files
        assert (file.writes, file.bytes_written, file.seconds, file.ranks) == (8, 8 * MIB, 4.0, [0, 1, 2, 3])
        assert (file.small, file.strided, file.random, file.high) == (None, None, None, None)


def test_the_whole_run_is_mpiio_and_what_went_past_it(tmp_path: Path) -> None:
    log = Log()
    log.writes("MPI-IO", 0, None, 8, MIB, 4.0)
    log.writes("POSIX", 0, None, 8, 2 * MIB, 2.0)  # sieved: the application asked for half of it
    for rank in range(4):
        log.writes("POSIX", 1 + rank, rank, 100, 4 * MIB, 2.0)
    with Dataset.open(log.store(tmp_path / "run")) as dataset:
        whole = next(one for one in Answers(dataset).bandwidths if one.file is None and one.kind == "write")
    assert whole.bytes == 8 * MIB + 1600 * MIB
    assert (whole.mpi_bytes, whole.posix_bytes) == (8 * MIB, 1616 * MIB)


def test_what_no_counter_tells_is_null(tmp_path: Path) -> None:
    log = Log()
    log.writes("POSIX", 0, None, 8, MIB, 2.0, OPENS=4, STATS=2, F_META_TIME=0.5)
    with Dataset.open(log.store(tmp_path / "run")) as dataset:
        told = json.loads(as_json(report_tables(dataset)))
    assert told["counters_only"]
    for name in ("calls", "setup_calls", "phase_gap_s", "examined_calls", "candidate_calls"):
        assert told[name] is None, name
    for one in told["times"]:
        assert (one["errors"], one["waited_s"]) == (None, None)
    assert [(one["kind"], one["calls"], one["seconds"]) for one in told["metadata"]["kinds"]] == [
        ("open", 4, None),
        ("stat", 2, None),
    ]
    assert (told["metadata"]["seconds"], told["metadata"]["data_calls"]) == (0.5, 8)


def test_files_that_there_was_no_room_for_have_the_bytes_that_mpiio_was_asked_for(tmp_path: Path) -> None:
    log = Log(absences=[{"what": "partial", "subject": "POSIX"}])
    log.writes("MPI-IO", 0, None, 8, MIB, 4.0, COLL_OPENS=4)
    with Dataset.open(log.store(tmp_path / "run")) as dataset:
        answers = Answers(dataset)
        (file,) = answers.files
        assert (file.writes, file.bytes_written, file.opens) == (8, 8 * MIB, 4)
        assert (file.consecutive, file.pattern) == (None, None)
        assert answers.bytes_moved == (0, 8 * MIB)


def test_servers_get_the_bytes_of_the_files_that_reach_them(tmp_path: Path) -> None:
    log = Log(layouts={0: (MIB, ["a", "b", "c", "d"]), 1: (MIB, ["d"]), 2: (None, ["a", "b"])})
    log.writes("POSIX", 0, None, 3, MIB // 2, 1.0, MAX_BYTE_WRITTEN=3 * MIB // 2 - 1)  # on a and b
    log.writes("POSIX", 1, 0, 8, MIB, 1.0)
    log.writes("POSIX", 2, 0, 1, 1000, 1.0)  # striped, nobody knows how
    with Dataset.open(log.store(tmp_path / "run")) as dataset:
        found = Answers(dataset).servers
    assert found.counted
    loads = {one.name: (one.files, one.bytes_written) for one in found.servers}
    assert loads == {"a": (1, 3 * MIB // 4), "b": (1, 3 * MIB // 4), "c": (0, 0), "d": (1, 8 * MIB)}
    assert found.unknown_bytes == 1000
    assert {one.bandwidth_per_call for one in found.servers} == {None}


def test_a_log_with_dxt_keeps_what_only_its_counters_tell() -> None:
    with open_run(DATA / "darshan" / "mpi-io-test-dxt.darshan") as dataset:
        tables = report_tables(dataset)
    files = {file.name: file for file in tables.files}
    assert files["test.out"].opens == 128
    assert files["test.out"].pattern == "strided"
    assert files["<STDOUT>"].bytes_written > 0
    assert {(one.level, one.kind) for one in tables.times} >= {("posix", "metadata"), ("stdio", "write")}
    assert tables.metadata.calls > 128
    assert tables.metadata.seconds > 1
    assert not tables.counters_only
    assert tables.calls == 576


def test_a_log_whose_dxt_was_cut_short_has_the_bandwidths_of_its_counters() -> None:
    """DXT kept 65,536 of a million reads of one byte."""
    with open_run(DATA / "darshan" / "partial_data_dxt.darshan") as dataset:
        tables = report_tables(dataset)
    whole = next(one for one in tables.bandwidths if one.file is None and one.kind == "read")
    (spent,) = (one for one in tables.times if (one.level, one.kind) == ("posix", "read"))
    assert whole.bytes == spent.bytes == 1_000_000
    assert whole.effective_posix == pytest.approx(1_000_000 / spent.seconds)
    told = [one.detail for one in tables.absences if one.subject == "DXT_POSIX" and one.what == "partial"]
    assert told[0] is not None
    assert "all else of the calls in the log" in told[0]


def test_what_was_cut_short_bounds_nothing(tmp_path: Path) -> None:
    log = Log(absences=[{"what": "partial", "subject": "POSIX"}])
    log.writes("POSIX", 0, None, 8, MIB, 2.0)
    with Dataset.open(log.store(tmp_path / "run")) as dataset:
        whole = Answers(dataset).bandwidths[0]
        assert whole.effective_posix == pytest.approx(8 * MIB / 2)
        assert (whole.perceived_posix_low, whole.perceived_posix_high) == (None, None)


def test_a_healthy_log_has_no_findings(tmp_path: Path) -> None:
    log = Log()
    for rank in range(4):
        log.writes("POSIX", rank, rank, 200, 4 * MIB, 2.0, SIZE_WRITE_4M_10M=200, FILE_NOT_ALIGNED=1, OPENS=1, STATS=2)
        log.record("POSIX", rank, rank, F_META_TIME=0.05)
    even = {
        "SLOWEST_RANK": 2,
        "SLOWEST_RANK_BYTES": 50 * 4 * MIB,
        "F_SLOWEST_RANK_TIME": 0.6,
        "F_VARIANCE_RANK_TIME": 0.01,
    }
    log.writes("POSIX", 4, None, 200, 4 * MIB, 2.0, SIZE_WRITE_4M_10M=200, OPENS=4, **even)
    assert keys(log, tmp_path / "run") == {}


def test_small_writes_are_counted_and_timed_where_all_of_a_file_are_small(tmp_path: Path) -> None:
    log = Log()
    for rank in range(4):
        log.writes("POSIX", 0, rank, 1000, 1000, 2.0, SIZE_WRITE_100_1K=1000)
    one = keys(log, tmp_path / "run")["small-writes"]
    assert one.calls == 4000
    assert one.seconds_lost == pytest.approx(8 * (1 - 1000 / MIB))
    assert one.when is not None
    assert (one.when.start_s, one.when.end_s) == (1.0, 9.0)
    mixed = Log()
    mixed.writes("POSIX", 0, 0, 2000, 100_000, 8.0, SIZE_WRITE_100_1K=1500, SIZE_WRITE_100K_1M=500)
    assert keys(mixed, tmp_path / "mixed")["small-writes"].seconds_lost is None


def test_small_writes_that_take_no_time_are_no_finding(tmp_path: Path) -> None:
    log = Log()
    log.writes("POSIX", 0, 0, 1000, 100, 0.0001, SIZE_WRITE_0_100=900, SIZE_WRITE_10K_100K=100)
    for rank in range(4):
        log.writes("POSIX", 1, rank, 100, 4 * MIB, 2.0, SIZE_WRITE_4M_10M=100)
    assert keys(log, tmp_path / "run") == {}


def test_misalignment_is_counted_where_blocks_are_known(tmp_path: Path) -> None:
    log = Log()
    for rank in range(4):
        log.writes("POSIX", 0, rank, 200, MIB, 2.0, SIZE_WRITE_100K_1M=200, FILE_NOT_ALIGNED=150)
    one = keys(log, tmp_path / "run")["misaligned-transfers"]
    assert (one.calls, one.seconds_lost, one.severity) == (600, None, "low")


def test_what_data_sieving_does_is_not_the_applications(tmp_path: Path) -> None:
    log = Log()
    log.writes("MPI-IO", 0, None, 1000, 2 * MIB, 40.0)
    sieving = {"READS": 1000, "BYTES_READ": 0, "F_READ_TIME": 9.0, "SIZE_READ_0_100": 1000}  # at the end of the file
    log.writes("POSIX", 0, None, 1000, 4 * MIB, 9.0, SIZE_WRITE_1M_4M=1000, FILE_NOT_ALIGNED=1900, **sieving)
    assert set(keys(log, tmp_path / "run")) == {"data-sieving"}
    small = {"READS": 400, "BYTES_READ": 400 * 1000, "F_READ_TIME": 4.0, "SIZE_READ_100_1K": 400}
    log.record("POSIX", 1, 0, FILE_NOT_ALIGNED=390, **small)  # which the application makes
    found = keys(log, tmp_path / "more")
    assert (found["small-reads"].calls, found["small-reads"].files) == (400, [1])
    assert {each.key: each.value for each in found["small-reads"].evidence}["every_calls"] == 400
    assert (found["misaligned-transfers"].calls, found["misaligned-transfers"].files) == (390, [1])


def test_a_metadata_storm_takes_time_and_outnumbers_transfers(tmp_path: Path) -> None:
    log = Log()
    for rank in range(4):
        log.writes("POSIX", 0, rank, 10, MIB, 1.0, OPENS=500, STATS=500, F_META_TIME=3.0)
    one = keys(log, tmp_path / "run")["metadata-storm"]
    assert (one.calls, one.seconds_lost) == (4000, pytest.approx(12.0))
    calm = Log()
    for rank in range(4):
        calm.writes("POSIX", 0, rank, 10, MIB, 1.0, OPENS=500, STATS=500, F_META_TIME=0.1)
    assert keys(calm, tmp_path / "calm") == {}


def test_data_sieving_shows_in_reads_that_nobody_asked_for(tmp_path: Path) -> None:
    log = Log()
    log.writes("MPI-IO", 0, None, 100, MIB, 20.0)
    log.writes("POSIX", 0, None, 100, 4 * MIB, 8.0, READS=100, BYTES_READ=1000, F_READ_TIME=6.0)
    one = keys(log, tmp_path / "run")["data-sieving"]
    assert one.seconds_lost == pytest.approx(6 + 8 * 3 / 4)
    update = Log()  # the application reads this file itself
    update.writes("MPI-IO", 0, None, 100, MIB, 20.0, INDEP_READS=100)
    update.writes("POSIX", 0, None, 100, 4 * MIB, 8.0, READS=100, BYTES_READ=1000, F_READ_TIME=6.0)
    assert "data-sieving" not in keys(update, tmp_path / "update")


@pytest.mark.parametrize(
    ("below", "collective", "own"),
    [
        ({"WRITES": 100, "F_WRITE_TIME": 2.0}, False, 18.0),
        # Writes that read: as MPI-IO was asked for no reads, these are its own.
        ({"WRITES": 100, "F_WRITE_TIME": 2.0, "READS": 100, "F_READ_TIME": 3.0}, False, 15.0),
        # Ranks rightly wait while the slowest one moves their data.
        ({"WRITES": 100, "F_WRITE_TIME": 2.0, "F_SLOWEST_RANK_TIME": 1.5}, True, 20.0 - 4 * 1.5),
        ({"WRITES": 100, "F_WRITE_TIME": 2.1}, True, None),  # all of it may be one rank's: 4 x 2.1 s
        ({"WRITES": 100, "F_WRITE_TIME": 9.0}, False, None),
        ({"WRITES": 100, "F_WRITE_TIME": 2.0, "BYTES_WRITTEN": 98 * MIB}, False, None),  # some are missing
    ],
)
def test_mpiios_own_time_is_beyond_that_of_the_posix_calls(
    tmp_path: Path, below: dict[str, float], collective: bool, own: float | None
) -> None:
    log = Log()
    kind = "COLL_WRITES" if collective else "INDEP_WRITES"
    log.record("MPI-IO", 0, None, BYTES_WRITTEN=100 * MIB, F_WRITE_TIME=20.0, **{kind: 100})
    log.record("POSIX", 0, None, **({"BYTES_WRITTEN": 100 * MIB} | below))
    found = keys(log, tmp_path / "run")
    assert ("mpiio-overhead-write" in found) == (own is not None)
    if own is not None:
        one = found["mpiio-overhead-write"]
        assert one.seconds_lost == pytest.approx(own)
        assert ("Ranks may wait for one another there" in one.explanation) == collective
        assert {each.key: each.value for each in one.evidence}["own_share"] == pytest.approx(own / 20)
    log.absences.append({"what": "partial", "subject": "POSIX"})
    assert "mpiio-overhead-write" not in keys(log, tmp_path / "cut")


@pytest.mark.parametrize(("posix_reads", "own"), [(100, 18.0), (101, None)])
def test_reads_that_mpiios_reads_make_are_not_in_its_writes(
    tmp_path: Path, posix_reads: int, own: float | None
) -> None:
    """One more than these make may be of a write; which took how long, no counter tells."""
    log = Log()
    log.record("MPI-IO", 0, 0, INDEP_WRITES=100, BYTES_WRITTEN=100 * MIB, F_WRITE_TIME=20.0)
    log.record("MPI-IO", 0, 0, INDEP_READS=100, BYTES_READ=100 * MIB, F_READ_TIME=7.0)
    log.record("POSIX", 0, 0, WRITES=100, BYTES_WRITTEN=100 * MIB, F_WRITE_TIME=2.0)
    log.record("POSIX", 0, 0, READS=posix_reads, BYTES_READ=100 * MIB, F_READ_TIME=7.0)
    found = keys(log, tmp_path / "run")
    assert "mpiio-overhead-read" not in found
    assert ("mpiio-overhead-write" in found) == (own is not None)
    if own is not None:
        assert found["mpiio-overhead-write"].seconds_lost == pytest.approx(own)


def shared(log: Log, spent: float, variance: float, volume: int) -> None:
    """A file of all ranks, 100 MiB in 10 s, whose slowest rank is 2."""
    slowest = {"SLOWEST_RANK": 2, "SLOWEST_RANK_BYTES": volume}
    times = {"F_SLOWEST_RANK_TIME": spent, "F_VARIANCE_RANK_TIME": variance}
    log.writes("POSIX", 0, None, 100, MIB, 10.0, **slowest, **times)


def test_one_slow_rank_stands_alone_with_no_more_to_do(tmp_path: Path) -> None:
    log = Log()
    shared(log, 7.0, 6.0**2 * 3 / 16, 25 * MIB)  # the others took 1 s each
    one = keys(log, tmp_path / "run")["slow-rank"]
    assert (one.ranks, one.seconds_lost) == ([2], pytest.approx(6 * 3))


@pytest.mark.parametrize(
    ("spent", "variance", "volume"),
    [
        (2.7, 0.01, 25 * MIB),  # hardly slower
        (7.0, 6.0**2 * 3 / 16, 60 * MIB),  # it has more to do
        (4.5, 5.0, 25 * MIB),  # others are far from the mean, too
    ],
)
def test_other_slow_ranks_are_no_finding(tmp_path: Path, spent: float, variance: float, volume: int) -> None:
    log = Log()
    shared(log, spent, variance, volume)
    assert keys(log, tmp_path / "run") == {}


@pytest.fixture(scope="module")
def imbalanced() -> Iterator[Answers]:
    with open_run(DATA / "darshan" / "imbalanced-io.darshan") as dataset:
        yield Answers(dataset)


def test_the_rank_that_moves_all_is_found_in_a_real_log(imbalanced: Answers) -> None:
    (one,) = findings(imbalanced)
    assert (one.key, one.severity, one.ranks) == ("one-rank-moves-all", "high", [0])
    assert one.seconds_lost == pytest.approx(287_000, rel=0.01)  # all wait for it in collective calls


def test_what_a_log_cut_short_has_no_rate(imbalanced: Answers) -> None:
    """Of 25 GB that MPI-IO wrote to one of its files, the log has the POSIX record of a few bytes: 14 B/s."""
    whole, cut = ([one for one in imbalanced.bandwidths if one.posix_cut == wanted] for wanted in (False, True))
    assert all(one.effective_posix is None and one.mpi_bytes for one in cut)
    assert {one.kind for one in cut if one.file is None} == {"write", "all"}
    assert max(one.mpi_bytes for one in cut if one.file is not None) > 25e9
    # Of the file of which all is there, the rates stay.
    assert max(one.effective_posix or 0.0 for one in whole if one.mpi_bytes) > 1e8


@pytest.fixture(scope="module")
def sieved() -> Iterator[list[Finding]]:
    """Of a log of 512 ranks, of which 56 move the data; their writes read first."""
    with open_run(DATA / "darshan" / "e3sm_io_heatmap_only.darshan") as dataset:
        yield findings(Answers(dataset))


def test_mpiios_own_time_is_found_in_a_real_log(sieved: list[Finding]) -> None:
    one = {each.key: each for each in sieved}["mpiio-overhead-write"]
    assert (one.severity, one.calls) == ("high", 103_115)
    # 350,932 s, less 512 times the longest of the aggregators.
    assert one.seconds_lost == pytest.approx(350_932 - 512 * (264.553 + 1.404), abs=1)
    assert "Ranks may wait for one another there" in one.explanation


def test_what_data_sieving_reads_is_charged_once_in_a_real_log(sieved: list[Finding]) -> None:
    assert {one.key for one in sieved} == {"mpiio-overhead-write", "data-sieving"}


def test_a_real_logs_sums_are_those_of_its_counters(imbalanced: Answers) -> None:
    levels = {one.level: one for one in imbalanced.counted.volumes} if imbalanced.counted else {}
    assert (levels["posix"].reads, levels["posix"].writes) == (67_861, 50_832)
    assert levels["mpiio"].writes == 101_535
    sizes = [one for one in imbalanced.sizes if one.level == "posix" and one.kind == "read"]
    assert sum(one.calls for one in sizes) == 67_861
    assert all(one.bytes is None for one in sizes)
