"""A study that is ended takes its test bed down. The bed is a stand-in that says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

STUDIES = Path(__file__).resolve().parents[3] / "bench/study"
LIMIT_S = 60
DRIVER = """
import importlib.util, signal, sys
from contextlib import contextmanager

script, measures, *words = sys.argv[1:]
spec = importlib.util.spec_from_file_location("study", script)
study = importlib.util.module_from_spec(spec)
sys.modules["study"] = study
spec.loader.exec_module(study)


@contextmanager
def raised(_plan):
    try:
        yield None
    finally:
        print("down", flush=True)


def measure(*_):
    print("up", flush=True)
    signal.pause()


study.raised, study.unavailable = raised, lambda _plan: ""
setattr(study, measures, measure)
sys.argv = [script, *words]
sys.exit(study.main())
"""


@pytest.mark.parametrize(
    ("study", "measures", "options"),
    [("delta", "measure_pair", ["equal"]), ("delta-cache", "measured", []), ("delta-many", "QuietBed", [])],
)
def test_a_study_that_is_ended_takes_its_bed_down(
    study: str, measures: str, options: list[str], tmp_path: Path
) -> None:
    words = [str(STUDIES / f"{study}.py"), measures, *options, "--data", str(tmp_path)]
    environment = os.environ | {
        "PYTHONPATH": f"{STUDIES.parent}:{STUDIES}:{os.environ.get('PYTHONPATH', '')}",
    }
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, *words], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.terminate()
        said, _ = process.communicate(timeout=LIMIT_S)
    assert said == "down\n"
    assert process.returncode == 130
