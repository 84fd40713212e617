"""Each benchmark in Python begins: its imports are there, without the run that takes long."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from house import dry_runs
from house.dry_runs import Script

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted((ROOT / "bench").glob("*/*.py"))


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[Script], tuple[int, str]]]:
    """Its exit status, and what it said."""
    command = [sys.executable, dry_runs.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdin is not None
        assert runner.stdout is not None

        def answer(script: Script) -> tuple[int, str]:
            print(json.dumps(asdict(script)), file=runner.stdin, flush=True)
            status, said = json.loads(runner.stdout.readline())
            return status, said

        yield answer


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.parent.name}/{script.stem}")
def test_a_benchmark_finds_what_it_imports(
    script: Path, tmp_path: Path, run: Callable[[Script], tuple[int, str]]
) -> None:
    # As bench/run.py and the script's own folder give them.
    found_in = [str(folder) for folder in (ROOT / "bench", ROOT / "bench/study", script.parent)]
    environment = {"HALCYON_ROOT": str(ROOT), "HALCYON_BUILD": str(tmp_path)}
    status, said = run(Script(str(script), str(tmp_path), found_in, environment))
    assert status == 0, said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import halcyon.no_such_module", "No module named 'halcyon.no_such_module'"),
        ("import sys; sys.exit('no HALCYON_BUILD')", "SystemExit: no HALCYON_BUILD"),
    ],
)
def test_one_that_does_not_begin_is_told(
    text: str, said: str, tmp_path: Path, run: Callable[[Script], tuple[int, str]]
) -> None:
    (tmp_path / "script.py").write_text(text)
    status, told = run(Script(str(tmp_path / "script.py"), str(tmp_path), [], {}))
    assert status == 1
    assert said in told


def test_there_are_benchmarks_in_each_of_the_modules_that_measure_with_python() -> None:
    assert {script.parent.name for script in SCRIPTS} == {
        "coordinate",
        "insitu",
        "logfs",
        "observe",
        "offload",
        "predict",
        "study",
        "testbed",
    }
