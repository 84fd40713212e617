"""Names that hold what a terminal obeys are shown, not sent to it."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.text import Text

from halcyon.printed.tables import print_table
from halcyon.terminal import VisibleConsole
from halcyon.visible_text import visible, visible_lines

HOSTILE = "a\nNo findings.\x1b[2Jb\x9b31m\u202ec"
SHOWN = r"a\x0aNo findings.\x1b[2Jb\x9b31m\u202ec"


def test_control_characters_become_escapes() -> None:
    assert visible(HOSTILE) == SHOWN
    assert visible_lines("one\n\ttwo\r\x1b]0;title\x07") == "one\n\ttwo\\x0d\\x1b]0;title\\x07"
    assert visible("ünïcode, 日本語") == "ünïcode, 日本語"


def test_a_console_shows_them_and_sends_its_own() -> None:
    said = io.StringIO()
    console = VisibleConsole(file=said, force_terminal=True, color_system="standard", width=80)
    console.print(Text("name\x1b[2J", style="bold"))
    assert said.getvalue() == "\x1b[1mname\\x1b[2J\x1b[0m\n"


def test_a_row_of_a_table_stays_one_line() -> None:
    said = io.StringIO()
    print_table(VisibleConsole(file=said, width=120), "Files", ["file", "bytes"], [[HOSTILE, "1"], ["b", "2"]])
    assert [line.split("   ")[0] for line in said.getvalue().splitlines()[4:]] == [SHOWN, "b"]


@pytest.mark.parametrize("verb", ["analyze", "summary"])
def test_messages_show_them(tmp_path: Path, verb: str) -> None:
    words = [sys.executable, "-m", "halcyon", verb, str(tmp_path / "no\x1b[2Jrun")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no\\x1b[2Jrun" in done.stderr
    assert "\x1b" not in done.stderr
