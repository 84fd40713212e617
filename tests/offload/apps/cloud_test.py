"""The cloud model, run as its users run it: physics, determinism, output files, messages."""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COARSE = ["nx=24", "ny=20", "nz=30", "dx=2000", "dy=2000", "dz=600", "dt=10"]
SMALL = ["nx=16", "ny=16", "nz=24", "dx=1500", "dy=1500", "dz=700", "dt=8"]


@dataclass(frozen=True)
class Bench:
    """The program under test and what it needs."""

    cloud: Path
    soundings: Path
    h5diff: Path
    mpirun: list[str]
    work: Path

    def start(self, *words: str, ranks: int = 1) -> subprocess.CompletedProcess[str]:
        command = [*self.mpirun, "-n", str(ranks), str(self.cloud), *words]
        return subprocess.run(command, cwd=self.work, capture_output=True, text=True, check=False)

    def run(self, name: str, *words: str, ranks: int = 1) -> tuple[Path, dict[str, Any]]:
        """Runs to the end; returns the output directory and what app.json says."""
        out = self.work / name
        sounding = f"sounding={self.soundings / '20110522_OUN_12Z.txt'}"
        done = self.start(sounding, f"directory={out}", *words, ranks=ranks)
        assert done.returncode == 0, done.stdout + done.stderr
        return out, json.loads((out / "app.json").read_text())

    def differences(self, one: Path, other: Path) -> str:
        done = subprocess.run([str(self.h5diff), str(one), str(other)], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr


def atmosphere_at_rest_stays_at_rest(bench: Bench) -> None:
    """The base state is balanced in the discrete equations: what moves is round-off."""
    rest = ["wind=F", "bubble_k=0", "output=none", "steps=100", "output_every=100"]
    for sounding in sorted(bench.soundings.glob("*.txt")):
        _, run = bench.run(sounding.stem, *SMALL, *rest, f"sounding={sounding}")
        assert 0 <= run["wmax"] < 1e-10, run
        assert abs(run["dry_mass_error"]) < 1e-13, run
        assert abs(run["water_error"]) < 1e-12, run
    # The check can tell: what 0.1 mK does to the balance is far above its threshold.
    _, run = bench.run("disturbed", *SMALL, *rest, "bubble_k=1e-4")
    assert run["wmax"] > 1e-7, run


def bubble_becomes_a_raining_storm_and_nothing_is_lost(bench: Bench) -> None:
    """Half an hour from the sounding of 22 May 2011: updraught, rain on the ground, closed budgets."""
    _, run = bench.run("storm", *COARSE, "steps=210", "output_every=30", "output=none")
    assert 10 < run["wmax"] < 100, run
    assert run["rain_max_mm"] > 0.05, run
    assert run["rain_max_mm"] < 100, run
    assert 0 < abs(run["dry_mass_error"]) < 1e-12, run
    assert 0 < abs(run["water_error"]) < 1e-12, run


def same_bits(bench: Bench, decompositions: list[list[str]]) -> None:
    # So moist and warm that it rains within 45 steps: every branch of the physics takes part.
    grid = ["nx=12", "ny=12", "nz=24", "dx=3000", "dy=3000", "dz=700", "dt=12"]
    bubble = ["bubble_k=12", "bubble_z=2000", "bubble_depth=3000", "rh_max=1"]
    words = [*grid, *bubble, "steps=45", "output_every=20", "output=collective", "sync=F"]
    reference, alone = bench.run("alone", *words)
    assert alone["wmax"] > 10, alone
    assert alone["rain_max_mm"] > 0, alone
    for decomposition in decompositions:
        px, py = (int(word.split("=")[1]) for word in decomposition)
        out, run = bench.run(f"ranks{px}x{py}", *words, *decomposition, ranks=px * py)
        assert run["ranks"] == px * py
        assert run["state"] == alone["state"], (decomposition, run, alone)
        files = sorted(path.name for path in reference.glob("*.h5"))
        assert len(files) == 2
        for name in files:
            assert bench.differences(reference / name, out / name) == ""
    _, other = bench.run("other", *words, "bubble_k=11.9999999")
    assert other["state"] != alone["state"]


def any_number_of_ranks_gives_the_same_bits(bench: Bench) -> None:
    same_bits(bench, [["px=2", "py=2"], ["px=3", "py=1"]])


def two_ranks_give_the_same_bits_as_one(bench: Bench) -> None:
    same_bits(bench, [["px=2", "py=1"], ["px=1", "py=2"]])


def collective_file_equals_the_files_of_the_ranks(bench: Bench) -> None:
    words = [*SMALL, "steps=6", "output_every=3"]
    alone, _ = bench.run("alone", *words)
    shared, _ = bench.run("shared", *words, "output=collective", ranks=2)
    for phase in range(2):
        one, other = alone / f"cloud.r00000.i{phase:08}.h5", shared / f"cloud.i{phase:08}.h5"
        assert bench.differences(one, other) == ""
    first, second = alone / "cloud.r00000.i00000000.h5", shared / "cloud.i00000001.h5"
    assert "theta" in bench.differences(first, second)


def compressed_files_hold_the_same_values(bench: Bench) -> None:
    words = [*SMALL, "steps=3", "output_every=3"]
    plain, _ = bench.run("plain", *words)
    packed, _ = bench.run("packed", *words, "gzip=4")
    name = "cloud.r00000.i00000000.h5"
    assert bench.differences(plain / name, packed / name) == ""
    assert (packed / name).stat().st_size < (plain / name).stat().st_size


def run_directory_describes_the_run(bench: Bench) -> None:
    bytes_of_a_rank = 4 * (8 * 16 * 8 * 24 + 16 + 8 + 24)
    for approach, data_bytes in (("file-per-process", bytes_of_a_rank), ("collective", None), ("none", 0)):
        out, app = bench.run(approach, *SMALL, "steps=7", "output_every=3", f"output={approach}", ranks=2)
        run = json.loads((out / "run.json").read_text())
        assert run["format"] == 1
        assert run["approach"] == app["approach"] == approach
        assert (run["ranks"], run["nodes"], run["clients_per_node"], run["writers"]) == (2, 1, [2], ["app"])
        assert run["parameters"] == {"nx": 16, "ny": 16, "nz": 24, "px": 1, "py": 2}
        assert abs((run["ended_ns"] - run["started_ns"]) * 1e-9 - run["run_s"]) < 1e-6
        with (out / "phases-app.csv").open() as file:
            rows = [{key: int(text) for key, text in row.items()} for row in csv.DictReader(file)]
        assert [(row["iteration"], row["rank"]) for row in rows] == [(0, 0), (0, 1), (1, 0), (1, 1)]
        for row in rows:
            assert run["started_ns"] - 10**10 < row["begin_ns"] < row["begin_ns"] + row["visible_ns"]
            assert row["compute_ns"] > 0
            assert row["blocked_ns"] == 0
            assert data_bytes is None or row["bytes"] == data_bytes
        visible_s = sum(row["visible_ns"] for row in rows if row["rank"] == 0) * 1e-9
        assert abs(app["output_s"] - visible_s) < 1e-9
        assert abs(app["open_s"] + run["compute_s"] + app["output_s"] - run["run_s"]) < 1e-6


def sounding_errors_name_file_and_line(bench: Bench) -> None:
    lines = (bench.soundings / "20110522_OUN_12Z.txt").read_text().splitlines()
    assert lines[6].split() == ["1000.0", "36"], "the first row has empty columns and is skipped"
    broken: dict[str, tuple[list[str], str]] = {
        "letters": ([*lines[:9], lines[9].replace("20.8", "2O.8"), *lines[10:]], ":10: column TEMP holds '2O.8'"),
        "swapped": ([*lines[:9], lines[10], lines[9], *lines[11:]], ":11: the pressure does not fall"),
        "short": (lines[:10], ":10: the table ends after fewer than 5 complete rows"),
    }
    for name, (text, message) in broken.items():
        path = bench.work / f"{name}.txt"
        path.write_text("\n".join(text) + "\n")
        done = bench.start(*SMALL, "steps=1", f"sounding={path}")
        assert done.returncode != 0
        assert f"{path}{message}" in done.stderr, done.stderr
    done = bench.start(*SMALL, "steps=1", "sounding=nowhere.txt")
    assert done.returncode != 0
    assert "cannot read sounding 'nowhere.txt'" in done.stderr


def settings_errors_name_the_key(bench: Bench) -> None:
    namelist = bench.work / "wrong.nml"
    namelist.write_text("&cloud\n nx = 16\n nxx = 3\n/\n")
    cases = [
        (["nxx=3"], "nxx"),
        (["nx=many"], "nx=many"),
        (["output=tape"], "output='tape'"),
        (["--verbose"], "--verbose"),
        (["--namelist", str(namelist)], "nxx"),
        (["--namelist", "nowhere.nml"], "nowhere.nml"),
        (["px=3", "py=2"], "px=3 py=2"),
        (["nx=0"], "nx"),
        (["nx=3"], "too small"),
    ]
    for words, expected in cases:
        done = bench.start("steps=1", *words)
        assert done.returncode != 0, words
        assert "cloud: " in done.stderr, (words, done.stderr)
        assert expected in done.stderr, (words, done.stderr)
    # The command line wins over the file.
    namelist.write_text("&cloud\n nx = 16, ny = 16, nz = 24\n steps = 2\n output = 'none'\n/\n")
    _, run = bench.run("later", "--namelist", str(namelist), "steps=3", "output_every=1")
    assert (run["steps"], run["approach"]) == (3, "none")


CASES: dict[str, Callable[[Bench], None]] = {
    case.__name__: case
    for case in (
        atmosphere_at_rest_stays_at_rest,
        bubble_becomes_a_raining_storm_and_nothing_is_lost,
        any_number_of_ranks_gives_the_same_bits,
        two_ranks_give_the_same_bits_as_one,
        collective_file_equals_the_files_of_the_ranks,
        compressed_files_hold_the_same_values,
        run_directory_describes_the_run,
        sounding_errors_name_file_and_line,
        settings_errors_name_the_key,
    )
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=sorted(CASES))
    parser.add_argument("--cloud", type=Path, required=True)
    parser.add_argument("--soundings", type=Path, required=True)
    parser.add_argument("--h5diff", type=Path, required=True)
    parser.add_argument("--mpirun", required=True, help="the launcher and its options, separated by ';'")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cloud-") as work:
        CASES[words.case](Bench(words.cloud, words.soundings, words.h5diff, words.mpirun.split(";"), Path(work)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
