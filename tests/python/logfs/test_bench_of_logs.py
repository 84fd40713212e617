"""What benches and studies of logs conclude from what they see."""

import runpy
from pathlib import Path

import pytest
from log_tools import MORE_MS, WITHIN, Times
from tool_files import make_text

ROOT = Path(__file__).resolve().parents[3]

STRACE = """\
10 execve("/usr/bin/dd", ["dd", "of=/t/logs/file"], 0x7ffd) = 0
10 openat(AT_FDCWD</w>, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache>
10 openat(AT_FDCWD</w>, "/t/logs/file", O_WRONLY|O_CREAT, 0666) = -1 ENOENT (No such file or directory)
10 mkdirat(5</t/logs>, ".halcyon-begun-1", 0777) = 0
10 openat(6</t/logs/.halcyon-begun-1>, "halcyon-container", O_RDWR|O_CREAT|O_EXCL, 0644) = 7</t/logs/f>
11 renameat2(5</t/logs>, ".halcyon-begun-1", 5</t/logs>, "file", RENAME_NOREPLACE) = 0
11 openat(8</t/logs/file>, "times", O_RDONLY) = 9</t/logs/file/times>
12 +++ exited with 0 +++
"""


def test_calls_that_succeed_and_name_something_below_the_folder_count() -> None:
    counted = runpy.run_path(str(ROOT / "bench/logfs/metadata.py"), run_name="dry")["counted"]
    found = counted(STRACE.splitlines(), Path("/t/logs"))
    assert dict(found) == {"all": 4, "opens": 2, "creates": 2}


@pytest.mark.parametrize(
    ("plain_s", "log_s", "missed"),
    [
        (2.0, 2.0 * WITHIN - 0.01, False),
        (2.0, 2.0 * WITHIN + 0.01, True),
        (0.01, 0.01 + MORE_MS / 1e3 - 0.001, False),
        (0.01, 0.01 + MORE_MS / 1e3 + 0.001, True),
        (0.9, 0.93, True),
    ],
)
def test_a_program_may_take_a_tenth_longer_or_some_milliseconds(plain_s: float, log_s: float, missed: bool) -> None:
    assert Times([plain_s] * 7, [log_s] * 7).missed == missed


def test_text_has_lines_that_are_found(tmp_path: Path) -> None:
    make_text(tmp_path / "data", 1 << 20)
    lines = (tmp_path / "data").read_text().splitlines()
    assert {len(line) for line in lines} == {63}
    assert (tmp_path / "data").stat().st_size == 1 << 20
    assert 0 < sum("seven 77" in line for line in lines) < len(lines) / 10
