"""Which package programs import that tests start."""

import subprocess
import sys
from pathlib import Path

import halcyon


def test_a_program_that_runs_in_another_folder_imports_the_package_of_the_tests(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import halcyon; print(halcyon.__file__)"]
    imported = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert Path(imported.strip()).resolve() == Path(halcyon.__file__).resolve()
