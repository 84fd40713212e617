"""Damaged traces are refused with a reason, or read: never a crash, never a hang, never another error."""

import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from traces import DATA, packed

from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.observe.pack import pack
from halcyon.observe.readers import dftracer, isolation, recorder
from halcyon.observe.writers import writer_of

DARSHAN = DATA / "darshan" / "mpi-io-test-dxt.darshan"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("abort", "abort: its reader died of SIGABRT: damaged"),
        ("segv", "segv: its reader died of SIGSEGV: damaged"),
        ("real-time", "real-time: its reader died of signal 40: damaged"),
        ("exits", r"exits: its reader gave up \(libthing: error: no such record\): damaged"),
    ],
)
def test_a_reader_that_dies_is_an_error_of_the_file(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(ConfigError, match=message):
        isolation.read_isolated("fatal_reader", tmp_path / name, tmp_path / "run")


def test_a_reader_that_goes_in_circles_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "SECONDS", 1)
    (tmp_path / "circles").touch()
    with pytest.raises(ConfigError, match="circles: not read within 1 s: its reader goes in circles"):
        isolation.read_isolated("fatal_reader", tmp_path / "circles", tmp_path / "run")
    assert subprocess.run(["pgrep", "-f", str(tmp_path / "circles")], check=False).returncode == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("killed", "killed: the process that worked on it was killed"),
        ("no-room", "/tmp/staged: No space left on device"),
    ],
)
def test_what_the_system_does_to_a_reader_is_no_damage(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(HalcyonSystemError, match=message):
        isolation.read_isolated("fatal_reader", tmp_path / name, tmp_path / "run")


def test_errors_of_an_isolated_reader_keep_their_kind(tmp_path: Path) -> None:
    (tmp_path / "chatter").touch()
    with pytest.raises(HalcyonSystemError, match=r"^disk: full$"):
        isolation.read_isolated("fatal_reader", tmp_path / "chatter", tmp_path / "run")


@pytest.mark.parametrize("length", [0, 400, 8000, DARSHAN.stat().st_size - 1])
def test_a_darshan_log_cut_off_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "cut.darshan"
    path.write_bytes(DARSHAN.read_bytes()[:length])
    with pytest.raises(ConfigError, match=r"cut\.darshan: "):
        pack(path, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("log", sorted((DATA / "darshan").glob("*.darshan")), ids=lambda log: log.stem)
def test_damage_in_a_darshan_log_is_told_with_its_place(tmp_path: Path, log: Path) -> None:
    whole = log.read_bytes()
    path = tmp_path / "harmed.darshan"
    told = 0
    for offset in range(len(whole) // 2, len(whole), len(whole) // 6):
        path.write_bytes(whole[:offset] + bytes(200) + whole[offset + 200 :])
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        refusal = refusal_of(lambda: pack(path, tmp_path / "run")) or ""
        if place := re.search(r"harmed\.darshan: offsets (\d+) to (\d+), module (\w+)", refusal):
            told += 1
            assert int(place[1]) < offset + 200
            assert offset < int(place[2])
    assert told


def test_a_darshan_log_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.darshan"
    path.write_bytes(b"9.99" + DARSHAN.read_bytes()[4:])
    with pytest.raises(ConfigError, match=r"new\.darshan: offset 0: not a Darshan log that libdarshan-util \S+ reads"):
        pack(path, tmp_path / "run")


@pytest.mark.parametrize("seed", range(3))
def test_a_darshan_log_with_flipped_bits_is_refused_or_read(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "flipped.darshan"
    path.write_bytes(flipped(DARSHAN.read_bytes(), random.Random(seed)))
    refused_or_read(path, tmp_path)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("otf2")
    with packed(DATA / "dftracer" / "threads.pfw", folder / "run") as dataset:
        writer_of("otf2")(dataset, folder / "archive")
    return folder / "archive"


@pytest.mark.parametrize("name", ["traces.otf2", "traces.def", "traces/0.evt"])
@pytest.mark.parametrize("share", [0.0, 0.9])
def test_an_otf2_archive_cut_off_is_refused(archive: Path, tmp_path: Path, name: str, share: float) -> None:
    copy = shutil.copytree(archive, tmp_path / "archive")
    whole = (copy / name).read_bytes()
    (copy / name).write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ConfigError, match=r"archive/traces\.otf2: "):
        pack(copy, tmp_path / "run")


@pytest.mark.parametrize("seed", range(3))
def test_an_otf2_archive_with_flipped_bits_is_refused_or_read(archive: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    copy = shutil.copytree(archive, tmp_path / "archive")
    file = chance.choice(sorted(path for path in copy.rglob("*") if path.is_file()))
    file.write_bytes(flipped(file.read_bytes(), chance))
    refused_or_read(copy, tmp_path)


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_traces_of_recorder_and_dftracer_are_refused_or_read(tmp_path: Path, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(["recorder/mpi", "recorder/posix-text", "dftracer"]))
    shutil.rmtree(tmp_path / "trace", ignore_errors=True)
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
    copy = shutil.copytree(DATA / source, tmp_path / "trace")
    file = copy / data.draw(st.sampled_from(sorted(str(path.relative_to(copy)) for path in copy.rglob("*.*"))))
    content = bytearray(file.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        for _ in range(data.draw(st.integers(1, 20))):
            content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(content)
    read = dftracer.read if source == "dftracer" else recorder.read
    refusal = refusal_of(lambda: read(copy, tmp_path / "run"))
    assert refusal is None or str(copy) in refusal


def flipped(content: bytes, chance: random.Random) -> bytes:
    harmed = bytearray(content)
    for _ in range(8):
        harmed[chance.randrange(len(harmed))] ^= 1 << chance.randrange(8)
    return bytes(harmed)


def refused_or_read(path: Path, folder: Path) -> None:
    refusal = refusal_of(lambda: pack(path, folder / "run"))
    assert refusal is None or str(path) in refusal


def refusal_of(read: Callable[[], object]) -> str | None:
    """What the ConfigError says that `read` raises; null when it raises none. Other errors are not caught."""
    try:
        read()
    except ConfigError as refusal:
        return str(refusal)
    return None
