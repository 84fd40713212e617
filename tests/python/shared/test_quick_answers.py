"""Whoever types something wrong, or asks something small, does not wait for libraries that this does not need."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from halcyon.cli import main
code = main(sys.argv[1:])
print("loaded:", *sorted({"ibis", "matplotlib", "pandas", "pyarrow", "scipy.stats"} & set(sys.modules)))
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("model stripes --total 4 --request 2 --load 2", 2),
        ("model stripes --total 4 --request 2 -o load.jpg", 2),
        ("model stripes --total 480 --request 160 --jobs 3", 0),
        ("model stripes --total 480 --request 160 --jobs 3 --json", 0),
        ("model delta --a 10s --b 1s -o delta.jpg", 2),
        ("grammar . -o grammar.jpg", 2),
        ("delta --data none.jsonl", 2),
        ("delta --path . --policy fcsf -- a -- b", 2),
    ],
)
def test_only_what_is_needed_is_loaded(tmp_path: Path, words: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded:"
