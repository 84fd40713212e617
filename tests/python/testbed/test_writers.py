"""Applications on a test bed disturb nothing but what they are to disturb."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from halcyon.testbed.applications import Application, run_together
from halcyon.testbed.bed import Bed, raise_to_stay, take_down
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PLAN = Plan(compute=1, storage=2, mounts=2)
LIMIT_S = 20

pytestmark = pytest.mark.skipif(bool(unavailable(PLAN)), reason=unavailable(PLAN))


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("bed")
    raise_to_stay(PLAN, directory)
    yield directory
    take_down(directory)


COMPUTES = """
import signal, sys
from pathlib import Path
from halcyon.testbed.applications import computing
from halcyon.testbed.bed import Bed

with computing(Bed.standing(Path(sys.argv[1])), 2):
    print("computing", flush=True)
    signal.pause()
"""


def shells(bed: Bed) -> list[str]:
    return bed.run("c1", ["pgrep", "-x", "sh"], capture_output=True).stdout.split()


def test_computing_ends_with_a_killed_process(directory: Path) -> None:
    bed = Bed.standing(directory)
    with subprocess.Popen([sys.executable, "-c", COMPUTES, directory], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "computing\n"
        assert shells(bed)
        process.kill()
    limit = time.monotonic() + LIMIT_S
    while left := shells(bed):
        assert time.monotonic() < limit, left
        time.sleep(0.02)


def test_files_of_the_user_stay_and_no_others(directory: Path) -> None:
    bed = Bed.standing(directory)
    bed.place("large/0", "s1")
    run_together(bed, [(Application("large", bed.mounts(), 1 << 20), 0.0)])
    root = bed.inside(bed.mounts()[0][1])
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*")) == ["large", "large/0"]
