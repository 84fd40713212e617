"""The applications on which predictions are measured run as described, and are recorded."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from applications import APPLICATIONS, Application, find, record
from recorded_program import Run

ITERATIONS = 3

# One entry for each output phase that an application has left in its folder.
PHASES: dict[str, Callable[[Path], list[str]]] = {
    "cloud-posix": lambda folder: names(folder, "out/cloud.r00000.i*.h5"),
    "cloud-gzip": lambda folder: names(folder, "out/cloud.r00001.i*.h5"),
    "cloud-mpiio": lambda folder: names(folder, "out/cloud.i*.h5"),
    "branching": lambda folder: names(folder, "out/alloy.0*"),
    "gtc-like": lambda folder: names(folder, "out/node0001/gtc_*.dat"),
    "lammps": lambda folder: [
        line for line in (folder / "melt.dump").read_text().splitlines() if line == "ITEM: TIMESTEP"
    ][1:],  # the first one is the start
    "openfoam": lambda folder: [name for name in names(folder, "processor1/[0-9]*") if name != "0"],
    "shared-file": lambda folder: [""] * int.from_bytes((folder / "out/heat.dat").read_bytes()[24:32], "little"),
}


def names(folder: Path, pattern: str) -> list[str]:
    return [path.name for path in folder.glob(pattern)]


def test_each_application_is_counted_here() -> None:
    assert [application.name for application in APPLICATIONS] == list(PHASES)


@pytest.mark.parametrize("application", APPLICATIONS, ids=lambda application: str(application.name))
def test_an_application_runs_as_often_as_asked_and_every_rank_is_recorded(
    application: Application, tmp_path: Path
) -> None:
    if reason := application.missing():
        pytest.skip(reason)
    folder = tmp_path / "run"
    run = Run(record(application, folder, ITERATIONS), 0, b"", "")
    assert len(PHASES[application.name](folder)) == ITERATIONS
    ranks = {row["process"]: row["rank"] for row in run.rows("processes") if row["rank"] is not None}
    assert sorted(ranks.values()) == list(range(application.ranks))
    assert sum(row["lost"] or 0 for row in run.rows("processes")) == 0
    writes = Counter(
        ranks.get(call["process"])
        for call in run.calls
        if call["level"] == "posix" and call["kind"] == "write" and Path(call["path"]).is_relative_to(folder.resolve())
    )
    assert writes[0] >= ITERATIONS


def test_an_application_that_is_not_there_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find("lammps").missing() == "lmp is not installed (Debian: lammps)"
    with pytest.raises(RuntimeError, match=r"openfoam: icoFoam is not installed \(Debian: openfoam\)"):
        record(find("openfoam"), tmp_path / "run")
