"""halcyon run --log"""

import sys
from pathlib import Path

import pytest
from logfs.logged import Place, halcyon

from halcyon.errors import UsageError
from halcyon.layers.logs import Logs
from halcyon.logfs import stats
from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack


def test_files_below_the_directory_become_containers(tmp_path: Path) -> None:
    logs, outside = tmp_path / "logs", tmp_path / "outside"
    logs.mkdir()
    done = halcyon("run", "--log", logs, "--", "sh", "-c", f"echo in > {logs}/in; echo out > {outside}; cat {logs}/in")
    assert (done.returncode, done.stdout) == (0, "in\n"), done.stderr
    assert done.stderr == (
        f"halcyon: {logs}: 1 file is a log container, of 1 writer; "
        "without `halcyon run --log` each looks like a directory\n"
    )
    assert (logs / "in/halcyon-container").is_file()
    assert outside.read_text() == "out\n"


def test_the_exit_code_is_the_commands(tmp_path: Path) -> None:
    assert halcyon("run", "--log", tmp_path, "--", "sh", "-c", "exit 7").returncode == 7


def test_a_link_to_the_directory_is_another_spelling(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    link, real = tmp_path / "link", tmp_path / "real"
    command = f"echo a > {link}/a; echo b > {real}/b; cd {link}; cat b; cat {real}/a"
    done = halcyon("run", "--log", tmp_path / "link", "--", "sh", "-c", command)
    assert done.stdout == "b\na\n", done.stderr
    for name in "ab":
        assert (tmp_path / "real" / name / "halcyon-container").is_file()


def test_several_directories(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    command = f"echo x > {one}/x; cp {one}/x {two}/y; mv {one}/x {two}/z; cat {two}/y {two}/z"
    done = halcyon("run", "--log", one, "--log", two, "--", "sh", "-c", command)
    assert done.stdout == "x\nx\n", done.stderr
    assert "0 files are log containers" in done.stderr
    assert "2 files are log containers, of 2 writers" in done.stderr


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("absent", "no such directory"),
        ("file", "a file"),
        ("co:lon", "has a ':'"),
        ("container", "is a log container itself"),
        ("container/hostdir.0", "is a log container itself"),
    ],
)
def test_what_is_no_directory_for_logs_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "co:lon").mkdir()
    (tmp_path / "container/hostdir.0").mkdir(parents=True)
    (tmp_path / "container/halcyon-container").touch()
    with pytest.raises(UsageError, match=reason):
        Logs((str(tmp_path / name),)).variables()
    done = halcyon("run", "--log", tmp_path / name, "--", "true")
    assert done.returncode != 0
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_called_as_a_marker_and_is_none_is_the_users(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    (logs / "there/halcyon-container").mkdir(parents=True)
    (logs / "text").mkdir()
    (logs / "text/halcyon-container").write_text("mine\n")
    command = (
        f"cd {logs}; mkdir made made/halcyon-container; echo a > there/a; echo b > made/halcyon-container/b; "
        "echo c > made/c; echo d > halcyon-container; ls * made/halcyon-container; cat there/a made/*/b made/c "
        "halcyon-container text/halcyon-container; rm made/halcyon-container/b; rmdir made/halcyon-container; ls made"
    )
    done = halcyon("run", "--log", logs, "--", "sh", "-c", command)
    listed = (
        "halcyon-container\n\nmade:\nc\nhalcyon-container\n\nmade/halcyon-container:\nb\n\n"
        "text:\nhalcyon-container\n\nthere:\na\nhalcyon-container\n"
    )
    assert done.stdout == f"{listed}a\nb\nc\nd\nmine\nc\n", done.stderr
    assert "3 files are log containers, of 3 writers" in done.stderr
    again = halcyon("run", "--log", logs, "--", "cat", logs / "halcyon-container")
    assert again.stdout == "d\n", again.stderr


def test_more_than_a_process_can_have_are_refused(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    paths = tuple(str(tmp_path / str(number)) for number in range(5))
    with pytest.raises(UsageError, match="5 directories; expected 4 or fewer"):
        Logs(paths).variables()
    assert Logs((*paths[:1], paths[0], f"{paths[0]}/")).variables() == {"HALCYON_LOG": paths[0]}
    assert Logs((str(tmp_path), *paths)).variables() == {"HALCYON_LOG": str(tmp_path)}


def test_a_trace_names_the_logical_file(tmp_path: Path) -> None:
    place = Place(tmp_path / "logs", is_logged=True)
    place.directory.mkdir()
    script = (
        "import os, sys; fd = os.open(sys.argv[1] + '/f', os.O_CREAT | os.O_RDWR)\n"
        "os.pwrite(fd, b'x' * 1000, 500); print(len(os.pread(fd, 9999, 0))); os.fsync(fd); os.close(fd)"
    )
    run = tmp_path / "run"
    options = ("--trace", "--log", place.directory, "-o", run)
    done = halcyon("run", *options, "--", sys.executable, "-c", script, place.directory)
    assert done.stdout == "1500\n", done.stderr
    pack(run, run / "data")
    data = Dataset.open(run / "data")
    files = {row["file"]: row["path"] for batch in data.batches("files") for row in batch.to_pylist()}
    calls = [row for batch in data.batches("calls") for row in batch.to_pylist()]
    own = [(files.get(call["file"], ""), call) for call in calls if call["level"] != "log"]
    of_file = [call for path, call in own if path == f"{place.directory}/f"]
    moved = [(call["kind"], call["offset"], call["moved"]) for call in of_file if call["moved"]]
    assert moved == [("write", 500, 1000), ("read", 0, 1500)]
    assert not [path for path, _ in own if "hostdir" in path or "halcyon-descriptor" in path]


def test_no_open_waits_for_a_table_of_descriptors_that_grows(tmp_path: Path) -> None:
    """Where the process has threads by then, that takes 10 ms."""
    script = (
        "import sys\n"
        "def room(): return next(line for line in open('/proc/self/status') if line.startswith('FDSize'))\n"
        "before = room()\n"
        "with open(sys.argv[1] + '/f', 'w') as file: file.write('text')\n"
        "print(room() == before)\n"
    )
    done = halcyon("run", "--log", tmp_path, "--", sys.executable, "-c", script, tmp_path)
    assert done.stdout == "True\n", done.stderr


def test_writers_end_with_their_process_however_that_ends(tmp_path: Path) -> None:
    log = Place(tmp_path, is_logged=True)
    ends = {"exit": "sys.exit(0)", "_exit": "os._exit(0)", "exec": "os.execv('/bin/true', ['true'])"}
    for name, end in ends.items():
        script = f"import os, sys\nfile = os.open({str(tmp_path / name)!r}, os.O_CREAT | os.O_WRONLY)\n"
        done = log.run(sys.executable, "-c", f"{script}os.write(file, b'text')\n{end}\n")
        assert done.returncode == 0, done.stderr
        figures = stats(tmp_path / name)
        assert (figures.size, figures.writers, figures.open_writers) == (4, 1, 0), name


def test_what_is_read_ahead_is_said_to_be_nothing_of_logs(tmp_path: Path) -> None:
    said = "halcyon: --prefetch reads nothing ahead of files below --log\n"
    options = ("run", "--prefetch", "-o", tmp_path / "run")
    assert said in halcyon(*options, "--log", tmp_path, "--", "true").stderr
