"""Each benchmark in Python begins: its imports are there, without the run that takes long."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted((ROOT / "bench").glob("*/*.py"))
DRY = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='dry')"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.parent.name}/{script.stem}")
def test_a_benchmark_finds_what_it_imports(script: Path, tmp_path: Path) -> None:
    environment = os.environ | {
        "HALCYON_ROOT": str(ROOT),
        "HALCYON_BUILD": str(tmp_path),
        # As bench/run.py and the script's own folder give them.
        "PYTHONPATH": f"{ROOT / 'bench'}:{ROOT / 'bench/study'}:{script.parent}:{os.environ.get('PYTHONPATH', '')}",
    }
    done = subprocess.run(
        [sys.executable, "-c", DRY, str(script)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_there_are_benchmarks_in_each_of_the_modules_that_measure_with_python() -> None:
    assert {script.parent.name for script in SCRIPTS} == {
        "coordinate",
        "logfs",
        "observe",
        "offload",
        "predict",
        "study",
        "testbed",
    }
