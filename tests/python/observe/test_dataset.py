"""Data sets are written whole or not at all, and opened or refused with a reason."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from changed_dataset import replace_table, rewrite
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halcyon.errors import ConfigError, HalcyonError, UsageError
from halcyon.observe import dataset_writer, manifest
from halcyon.observe.dataset import Dataset, DatasetWriter
from halcyon.observe.engines import connect
from halcyon.observe.schema import TABLES, VERSION, RunInfo
from halcyon.observe.writers import writer_of

INFO = RunInfo("test 1", None, None, None)


def calls(count: int, process: int = 0) -> pa.Table:
    words = {"level": ["posix"] * count, "call": ["write"] * count, "kind": ["write"] * count}
    return pa.table({"process": [process] * count, **words, "start_ns": list(range(count))})


def test_pieces_become_row_groups_and_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_writer, "ROWS_PER_GROUP", 10)
    monkeypatch.setattr(dataset_writer, "ROWS_PER_PART", 30)
    with DatasetWriter(tmp_path / "run", INFO) as writer:
        for process in range(15):
            writer.write("calls", calls(5, process))
    with Dataset.open(tmp_path / "run") as opened:
        parts = [pq.ParquetFile(path).metadata for path in opened.paths["calls"]]
        assert [[part.row_group(i).num_rows for i in range(part.num_row_groups)] for part in parts] == [
            [10, 10, 10], [10, 10, 10], [10, 5],
        ]  # fmt: skip
        assert [value for batch in opened.batches("calls", ["process"]) for value in batch[0].to_pylist()] == [
            process for process in range(15) for _ in range(5)
        ]
        statistics = parts[0].row_group(0).column(0).statistics
        assert (statistics.min, statistics.max) == (0, 1)
        assert parts[0].row_group(0).column(0).compression == "ZSTD"


def test_nothing_remains_of_a_data_set_that_was_not_finished(tmp_path: Path) -> None:
    def write() -> None:
        with DatasetWriter(tmp_path / "run", INFO) as writer:
            writer.write("calls", calls(3))
            assert not (tmp_path / "run").exists()
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_use_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=f"{re.escape(str(tmp_path))}: exists already"), DatasetWriter(tmp_path, INFO):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_full_disk_is_an_error_with_its_reason(tmp_path: Path) -> None:
    def write() -> None:
        with DatasetWriter(tmp_path / "run", INFO) as writer:
            writer.write("files", pa.table({"file": [0], "path": ["/a"]}))
            next(tmp_path.glob(".run.*")).joinpath("files.parquet").symlink_to("/dev/full")

    with pytest.raises(HalcyonError, match="No space left"):
        write()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        ("call", {"process": [0]}, "call: no such table; known tables: calls, processes"),
        ("calls", {"proces": [0]}, "calls.proces: no such column; known columns: process"),
        ("processes", {"rank": [0]}, "processes.process: missing"),
        ("processes", {"process": pa.array([0, None], pa.int32())}, "processes.process: null in row 1"),
        ("processes", {"process": [1 << 40]}, "processes.process: int64; expected int32"),
        ("processes", {"process": [0], "rank": ["one"]}, "processes.rank: string; expected int32"),
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path: Path, table: str, columns: dict[str, object], message: str) -> None:
    with (
        pytest.raises(UsageError, match=re.escape(message)),
        DatasetWriter(tmp_path / "run", INFO) as writer,
    ):
        writer.write(table, pa.table(columns))


def test_a_folder_without_data_set_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no data set there.*halcyon pack"):
        Dataset.open(tmp_path)


def test_a_missing_file_is_named(small_dataset: Path) -> None:
    (small_dataset / "facts.parquet").unlink()
    with pytest.raises(ConfigError, match=r"facts.parquet: missing; it holds 0 rows of table 'facts'"):
        Dataset.open(small_dataset)


def test_a_stray_part_is_named(small_dataset: Path) -> None:
    (small_dataset / "calls" / "part-00007.parquet").write_bytes(b"PAR1")
    with pytest.raises(ConfigError, match=r"part-00007.parquet: not named in run.json"):
        Dataset.open(small_dataset)


def test_a_file_that_was_cut_off_is_named_with_its_end(small_dataset: Path) -> None:
    path = small_dataset / "calls" / "part-00000.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    with pytest.raises(ConfigError, match=f"part-00000.parquet: ends at byte {len(whole) - 7}; expected {len(whole)}"):
        Dataset.open(small_dataset)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_flipped_bit_goes_unnoticed(small_dataset: Path, data: st.DataObject) -> None:
    names = sorted(str(path.relative_to(small_dataset)) for path in small_dataset.rglob("*.*"))
    path = small_dataset / data.draw(st.sampled_from(names))
    whole = path.read_bytes()
    position = data.draw(st.integers(0, 8 * len(whole) - 1))
    harmed = bytearray(whole)
    harmed[position // 8] ^= 1 << position % 8
    path.write_bytes(harmed)
    try:
        if path.name != "run.json":
            with pytest.raises(ConfigError, match=re.escape(str(path))):
                Dataset.open(small_dataset)
        elif _json_of(bytes(harmed)) != _json_of(whole):
            with pytest.raises(ConfigError, match=r"run.json"):
                Dataset.open(small_dataset)
    finally:
        path.write_bytes(whole)


def test_names_of_columns_that_are_no_text_are_damage(small_dataset: Path) -> None:
    path = small_dataset / "activity.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"width_ns", b"width\xff\xff\xff"))
    assert path.read_bytes() != whole
    with pytest.raises(ConfigError, match=r"activity.parquet: not a whole Parquet file"):
        Dataset.open(small_dataset, verify=False)


def _json_of(text: bytes) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def test_a_newer_schema_is_refused(small_dataset: Path) -> None:
    rewrite(small_dataset, version=VERSION + 1)
    with pytest.raises(ConfigError, match=rf"run.json: version: {VERSION + 1} is of a newer Halcyon"):
        Dataset.open(small_dataset)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ranks": "two"}, "run.json: ranks: 'two'; expected"),
        ({"source": None}, "run.json: source: None; expected"),
        ({"parts": []}, r"run.json: parts: \[\]; expected"),
        ({"parts": {}}, "run.json: parts: none of table 'calls'"),
        ({"parts": {"calls/part-00000.parquet": {"rows": 1}}}, "run.json: parts.calls/part-00000.parquet: .*expected"),
    ],
)
def test_wrong_values_in_run_json_are_named(small_dataset: Path, changes: dict[str, object], message: str) -> None:
    rewrite(small_dataset, **changes)
    with pytest.raises(ConfigError, match=message):
        Dataset.open(small_dataset)


def test_a_column_of_another_type_is_named(small_dataset: Path) -> None:
    replace_table(small_dataset, "files", pa.table({"file": ["zero"], "path": ["/a"]}))
    with pytest.raises(ConfigError, match=r"files.parquet: column 'file' is string; expected int32"):
        Dataset.open(small_dataset)


def test_a_column_that_must_be_there_is_named(small_dataset: Path) -> None:
    replace_table(small_dataset, "files", pa.table({"file": pa.array([0], pa.int32())}))
    with pytest.raises(ConfigError, match=r"files.parquet: no column 'path', which table 'files' must have"):
        Dataset.open(small_dataset)


def test_a_data_set_without_contexts_is_read_and_exported(small_dataset: Path, tmp_path: Path) -> None:
    (path,) = (small_dataset / "calls").glob("*.parquet")
    table = pq.read_table(path).drop_columns(["context"])
    pq.write_table(table, path)
    document = json.loads((small_dataset / "run.json").read_bytes())
    part = manifest.Part.of(path, table.num_rows)
    document["parts"][f"calls/{path.name}"] = {"rows": part.rows, "bytes": part.bytes, "crc32": part.crc32}
    rewrite(small_dataset, parts=document["parts"], version=1)
    with Dataset.open(small_dataset) as opened:
        rows = [row for batch in opened.batches("calls") for row in batch.to_pylist()]
        assert [row["context"] for row in rows] == [None] * 4
        assert [list(row) for row in rows] == [TABLES["calls"].names] * 4
        some = [row for batch in opened.batches("calls", ["context", "call"]) for row in batch.to_pylist()]
        assert [row["call"] for row in some] == [row["call"] for row in rows]
        for name in ("csv", "chrome", "otf2"):
            writer_of(name)(opened, tmp_path / name)


def test_the_run_json_of_a_simulations_output_is_not_mistaken(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"format": 1, "writers": []}')
    with pytest.raises(UsageError, match="of a simulation's output"):
        Dataset.open(tmp_path)


def test_unknown_engines_are_refused_with_the_known_ones(small_dataset: Path) -> None:
    with pytest.raises(
        UsageError, match="dukdb: no such engine; known engines: duckdb, local-spark, spark://HOST:PORT"
    ):
        Dataset.open(small_dataset, "dukdb")


def test_duckdb_keeps_to_the_memory_it_was_given() -> None:
    engine = connect("duckdb", threads=1, memory_bytes=256 << 20)
    settings_of = engine._backend.raw_sql("select current_setting('memory_limit'), current_setting('threads')")  # type: ignore[attr-defined]
    assert settings_of.fetchone() == ("256.0 MiB", 1)
    engine.close()
