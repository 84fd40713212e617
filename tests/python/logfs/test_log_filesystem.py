"""halcyonlog://, the file system of fsspec."""

import os
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from log_containers import contents, dropping, flip, names, strided

from halcyon import logfs

pytest.importorskip("halcyon._logfs", reason="the compiled modules are not built")
fsspec = pytest.importorskip("fsspec")
LogFileSystem = import_module("halcyon.logfs.filesystem").LogFileSystem

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    """As the entry point of an installed package makes it."""
    fsspec.register_implementation("halcyonlog", LogFileSystem, clobber=True)
    yield
    LogFileSystem.clear_instance_cache()


@pytest.fixture
def files() -> Any:
    return fsspec.filesystem("halcyonlog")


def test_the_entry_point_names_the_file_system() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ((name, place),) = project["entry-points"]["fsspec.specs"].items()
    module, kind = place.split(":")
    assert getattr(import_module(module), kind) is LogFileSystem
    assert name == LogFileSystem.protocol
    assert project["optional-dependencies"]["fsspec"] == ["fsspec"]


def test_addresses_open_containers(tmp_path: Path) -> None:
    address = f"halcyonlog://{tmp_path}/file"
    with fsspec.open(address, "wb") as file:
        file.write(b"hello")
    with fsspec.open(address, "ab") as file:
        file.write(b", world")
    assert logfs.is_container(tmp_path / "file")
    with fsspec.open(address, "rb") as file:
        assert file.read() == b"hello, world"
        assert file.seek(-5, os.SEEK_END) == 7
        assert file.read() == b"world"
    with fsspec.open(address, "rt") as file:
        assert file.read() == "hello, world"
    with fsspec.open(address + ".gz", "wb", compression="gzip") as file:
        file.write(b"zipped")
    with fsspec.open(address + ".gz", "rb", compression="infer") as file:
        assert file.read() == b"zipped"


def test_containers_are_listed_as_files(files: Any, tmp_path: Path) -> None:
    whole = strided(tmp_path / "file")
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_bytes(b"plain")
    (tmp_path / ".halcyon-removed-7").mkdir()

    listed = {Path(each["name"]).name: each for each in files.ls(tmp_path)}
    assert {name: (each["type"], each["size"], each["container"]) for name, each in listed.items()} == {
        "file": ("file", len(whole), True),
        "folder": ("directory", listed["folder"]["size"], False),
        "plain": ("file", 5, False),
    }
    assert files.ls(tmp_path, detail=False) == [str(tmp_path / name) for name in ("file", "folder", "plain")]
    assert [each["name"] for each in files.ls(tmp_path / "file")] == [str(tmp_path / "file")]
    assert files.isfile(tmp_path / "file")
    assert not files.isdir(tmp_path / "file")
    assert files.find(tmp_path) == [str(tmp_path / name) for name in ("file", "plain")]
    assert files.glob(f"{tmp_path}/f*") == [str(tmp_path / name) for name in ("file", "folder")]
    assert files.du(tmp_path) == len(whole) + 5
    assert files.info(f"halcyonlog://{tmp_path}/file")["mode"] & 0o777 == logfs.status(tmp_path / "file").permissions
    modified_s = logfs.status(tmp_path / "file").modified_ns / 1e9
    assert files.modified(tmp_path / "file").timestamp() == pytest.approx(modified_s)
    for call in (files.info, files.ls, files.open, files.rm):
        with pytest.raises(FileNotFoundError):
            call(tmp_path / "missing")
    assert not files.exists(tmp_path / "missing")


def test_a_damaged_container_does_not_spoil_a_listing(files: Any, tmp_path: Path) -> None:
    strided(tmp_path / "file")
    flip(dropping(tmp_path / "file", "index"), 4096 + 80)  # a record
    (found,) = files.ls(tmp_path)
    assert (found["type"], found["size"]) == ("file", None)
    assert "index." in found["error"]


def test_parts_are_read_as_slices(files: Any, tmp_path: Path) -> None:
    files.pipe_file(tmp_path / "file", b"0123456789")
    assert logfs.is_container(tmp_path / "file")
    for start, end in ((None, None), (2, 5), (-3, None), (None, -3), (-5, -2), (8, 100), (5, 2)):
        assert files.cat_file(tmp_path / "file", start, end) == b"0123456789"[start:end]
    assert files.head(tmp_path / "file", 3) == b"012"
    assert files.tail(tmp_path / "file", 3) == b"789"
    assert files.cat_ranges([str(tmp_path / "file")] * 2, [0, 5], [2, 7]) == [b"01", b"56"]


def test_plain_files_stay_plain(files: Any, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"old")
    with files.open(plain, "wb") as file:
        file.write(b"new")
        files.fsync(file)
    assert plain.read_bytes() == b"new"


def test_copies_keep_holes(files: Any, tmp_path: Path) -> None:
    with logfs.open(tmp_path / "file", "wb", 0) as file:
        file.write_at(1 << 30, b"end")
        file.truncate((1 << 30) + 1000)
    files.cp(f"{tmp_path}/file", f"{tmp_path}/copy")
    figures = logfs.stats(tmp_path / "copy")
    assert (figures.size, figures.data_bytes) == ((1 << 30) + 1000, 3)
    files.get(f"{tmp_path}/copy", f"{tmp_path}/plain")
    there = (tmp_path / "plain").stat()
    assert there.st_size == (1 << 30) + 1000
    assert there.st_blocks * 512 < 1 << 20


def test_trees_go_in_and_out(files: Any, tmp_path: Path) -> None:
    (tmp_path / "local/below").mkdir(parents=True)
    (tmp_path / "local/a").write_bytes(b"a" * 1000)
    (tmp_path / "local/below/b").write_bytes(b"b" * 2000)
    files.put(f"{tmp_path}/local/", f"{tmp_path}/there/", recursive=True)
    assert logfs.is_container(tmp_path / "there/a")
    assert contents(tmp_path / "there/below/b") == b"b" * 2000
    files.cp(f"{tmp_path}/there/", f"{tmp_path}/again/", recursive=True)
    files.get(f"{tmp_path}/again/", f"{tmp_path}/back/", recursive=True)
    assert (tmp_path / "back/a").read_bytes() == b"a" * 1000
    assert (tmp_path / "back/below/b").read_bytes() == b"b" * 2000


def test_get_tells_how_far_it_is(files: Any, tmp_path: Path) -> None:
    whole = strided(tmp_path / "file")
    callback = fsspec.callbacks.Callback()
    files.get_file(tmp_path / "file", str(tmp_path / "plain"), callback=callback)
    assert (callback.size, callback.value) == (len(whole), len(whole))
    assert (tmp_path / "plain").read_bytes() == whole


def test_files_move_and_go(files: Any, tmp_path: Path) -> None:
    whole = strided(tmp_path / "file")
    (tmp_path / "plain").write_text("goes")
    files.mv(tmp_path / "file", tmp_path / "plain")
    assert contents(tmp_path / "plain") == whole
    (tmp_path / "folder").mkdir()
    files.mv(tmp_path / "plain", tmp_path / "folder")
    assert names(tmp_path) == ["folder"]
    strided(tmp_path / "file")
    files.mv(tmp_path / "folder/plain", tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        files.mv(tmp_path / "missing", tmp_path / "file")
    assert contents(tmp_path / "file") == whole
    with pytest.raises(IsADirectoryError):
        files.rm(tmp_path / "folder")
    files.touch(tmp_path / "folder/empty")
    assert contents(tmp_path / "folder/empty") == b""
    files.touch(tmp_path / "file", truncate=False)
    assert contents(tmp_path / "file") == whole
    files.rm([tmp_path / "folder", tmp_path / "file"], recursive=True)
    assert names(tmp_path) == []


def test_folders_of_new_files_are_made_when_that_is_wished(files: Any, tmp_path: Path) -> None:
    path = tmp_path / "no/such/folder/file"
    with pytest.raises(FileNotFoundError):
        files.open(path, "wb")
    with fsspec.filesystem("halcyonlog", auto_mkdir=True).open(path, "wb") as file:
        file.write(b"x")
    assert contents(path) == b"x"
    with pytest.raises(IsADirectoryError):
        files.open(tmp_path, "rb")


def test_sums_are_kept_and_compared_when_that_is_wished(tmp_path: Path) -> None:
    files = fsspec.filesystem("halcyonlog", checks=True, verify=True)
    files.pipe_file(tmp_path / "file", b"hello")
    flip(dropping(tmp_path / "file", "data"), 2)
    with pytest.raises(ValueError, match=r"data\."):
        files.cat_file(tmp_path / "file")


def test_transactions_are_refused(files: Any, tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError), files.transaction:
        files.open(tmp_path / "file", "wb")
    assert names(tmp_path) == []


def test_tables_of_pandas_lie_in_containers(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"step": range(1000), "energy": [0.5 * step for step in range(1000)]})
    address = f"halcyonlog://{tmp_path}/table"
    table.to_csv(address + ".csv", index=False)
    table.to_parquet(address + ".parquet")
    assert logfs.is_container(tmp_path / "table.csv")
    assert logfs.is_container(tmp_path / "table.parquet")
    assert pandas.read_csv(address + ".csv").equals(table)
    assert pandas.read_parquet(address + ".parquet").equals(table)


def test_a_link_to_nothing_is_listed_as_such(files: Any, tmp_path: Path) -> None:
    (tmp_path / "lost").symlink_to("nowhere")
    (found,) = files.ls(tmp_path)
    assert (found["type"], found["size"], found["islink"]) == ("other", len("nowhere"), True)
