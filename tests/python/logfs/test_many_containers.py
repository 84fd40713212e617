"""Directories with very many log containers: what each of them costs is the same, however many there are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from logfs.logged import Place

from halcyon import logfs
from halcyon.layers.logs import look_at

FEW, MANY = 50, 150


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[Place]:
    """With few containers, and with many."""
    made = []
    for count in (FEW, MANY):
        place = Place(tmp_path_factory.mktemp("logged"), is_logged=True)
        for number in range(count):
            with logfs.open(place.directory / f"f{number}", "wb") as file:
                file.write(b"%d" % number)
        made.append(place)
    return made


def system_calls(place: Place, log: Path, *words: str) -> int:
    traced = ["strace", "-qq", "-o", log, *words]
    done = place.run(*traced, cwd=place.directory)
    if done.returncode != 0 and "strace: " in done.stderr:
        pytest.skip(f"strace does not run here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    return len(log.read_text().splitlines())


COMMANDS = {"ls -f": 12, "ls -l": 90, "find . -type f": 40, "find . -size +1000": 90}
"""With so many system calls for each container, at most."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_listing_costs_the_same_for_each(places: list[Place], tmp_path: Path, command: str) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    few, many = (system_calls(place, tmp_path / "calls", *command.split()) for place in places)
    assert (many - few) / (MANY - FEW) <= COMMANDS[command]


def test_the_summary_lists_each_directory_once(places: list[Place]) -> None:
    """And opens no file."""
    script = """import sys
counts = {}
def note(event, arguments):
    if event in ('os.scandir', 'os.listdir') or (event == 'open' and '/f1' in str(arguments[0])):
        counts[event] = counts.get(event, 0) + 1
from halcyon.layers.logs import Logs, say_what_was_logged
logs = Logs((sys.argv[1],))
sys.addaudithook(note)
say_what_was_logged(logs)
print(counts)
"""
    place = places[1]
    done = subprocess.run(
        [sys.executable, "-c", script, place.directory], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr.startswith(f"halcyon: {place.directory}: {MANY} files are log containers, of {MANY} writers;")
    assert done.stdout == f"{{'os.scandir': {MANY + 1}, 'os.listdir': {MANY}}}\n"


def test_a_look_at_a_container_finds_what_the_summary_says(tmp_path: Path) -> None:
    path = tmp_path / "f"
    for _ in range(3):
        with logfs.open(path, "ab") as file:
            file.write(b"text")
    found = look_at(str(path))
    assert found is not None
    assert (found.writers, found.marks, found.is_written_past) == (3, (), False)
    (folder,) = path.glob("hostdir.*")
    (folder / "staged.node.1.2").touch()
    (path / "halcyon-descriptor").write_text("past")
    found = look_at(str(path))
    assert found is not None
    assert (found.writers, found.marks, found.is_written_past) == (3, (f"{folder}/staged.node.1.2",), True)
    (path / "halcyon-container").write_text("damaged")
    assert look_at(str(path)) is not None
    shutil.rmtree(folder)
    (path / "halcyon-descriptor").unlink()
    assert look_at(str(path)) is None
    assert look_at(str(tmp_path)) is None
    assert look_at(str(tmp_path / "none")) is None
    plfs = tmp_path / "plfs"
    (plfs / "hostdir.1").mkdir(parents=True)
    (plfs / ".plfsaccess113918400").touch()
    for name in ("dropping.index.1", "dropping.index.2", "dropping.data.1", "dropping.data.2"):
        (plfs / "hostdir.1" / name).touch()
    found = look_at(str(plfs))
    assert found is not None
    assert found.writers == 2


@pytest.mark.full
def test_a_hundred_thousand_are_listed_and_found(tmp_path: Path) -> None:
    """Empty ones, which are quickly made, and some that are not."""
    many = 100_000
    place = Place(tmp_path / "logged", is_logged=True)
    place.directory.mkdir()
    with logfs.open(place.directory / "f0", "wb"):
        pass
    marker = (place.directory / "f0/halcyon-container").read_bytes()
    for number in range(1, many):
        folder = f"{place.directory}/f{number}"
        os.mkdir(folder)  # noqa: PTH102  a Path for each takes longer
        with open(f"{folder}/halcyon-container", "wb", 0) as file:  # noqa: PTH123
            file.write(marker)
    large = [f"f{number}" for number in range(0, many, many // 10)]
    for name in large:
        with logfs.open(place.directory / name, "ab") as file:
            file.write(b"text")

    listed = place.shell('cd "$1" && ls -f').stdout.splitlines()
    assert sorted(listed) == sorted([".", "..", *(f"f{number}" for number in range(many))])
    lines = place.shell('cd "$1" && ls -l').stdout.splitlines()[1:]
    assert len(lines) == many
    assert all(line.startswith("-") for line in lines)
    assert sorted(line.split()[-1] for line in lines if line.split()[4] == "4") == sorted(large)
    assert place.shell('cd "$1" && find . -type f | wc -l && find . -type d').stdout == f"{many}\n.\n"
    found = place.shell('cd "$1" && find . -type f -size +0').stdout.splitlines()
    assert sorted(found) == sorted(f"./{name}" for name in large)
    read = """import os, sys
with os.scandir(sys.argv[1]) as entries:
    print(sum(entry.is_file() for entry in entries))
"""
    assert place.run(sys.executable, "-c", read, place.directory).stdout == f"{many}\n"


@pytest.mark.full
def test_a_listing_of_ten_thousand_costs_the_same_for_each(places: list[Place], tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    many = 10_000
    place = Place(tmp_path / "logged", is_logged=True)
    place.directory.mkdir()
    marker = (places[0].directory / "f0/halcyon-container").read_bytes()
    for number in range(many):
        (place.directory / f"f{number}").mkdir()
        (place.directory / f"f{number}/halcyon-container").write_bytes(marker)
    few = system_calls(places[0], tmp_path / "calls", "ls", "-f")
    assert (system_calls(place, tmp_path / "calls", "ls", "-f") - few) / (many - FEW) <= COMMANDS["ls -f"]
