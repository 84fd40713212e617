"""There is one place for the version, and the command says it from a source tree, too."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_command_says_the_version_of_the_source() -> None:
    head = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8").split("project(halcyon VERSION ")[1]
    said = subprocess.run(
        [sys.executable, "-m", "halcyon", "--version"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert said == f"halcyon {head.split()[0]}\n"
