"""Transcripts of `halcyon grammar`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from calls_by_hand import STACKS, Calls, simulation, with_changing_counts

from halcyon import cli
from halcyon.errors import UsageError
from halcyon.predict.code_places import with_places
from halcyon.predict.learnt import read_learnt


def grammar(directory: Path, *arguments: str) -> str:
    """What a terminal of 120 columns without colours would show, and the exit code when it is not 0."""
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    environment["PYTHONPATH"] = str(Path(cli.__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "halcyon", "grammar", *arguments],
        cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "\n".join([*lines, *([f"[exit {done.returncode}]"] if done.returncode else [])])


def test_a_simulation(tmp_path: Path) -> None:
    simulation(100).save(tmp_path / "cloud.model", STACKS)
    assert grammar(tmp_path, "cloud.model") == SIMULATION


def test_whole_stacks(tmp_path: Path) -> None:
    simulation(2).save(tmp_path / "cloud.model", STACKS)
    shown = grammar(tmp_path, "cloud.model", "--stacks")
    assert shown.endswith("#7 close\n    libc.so.6+0x99\n    libhdf5.so.103+0x77")


def test_open_counts_are_offered_where_they_help(tmp_path: Path) -> None:
    with_changing_counts(40).save(tmp_path / "m")
    assert "many differ in repetitions alone: with --loops there are 2 rules" in grammar(tmp_path, "m")
    shown = grammar(tmp_path, "m", "--loops")
    assert "S →    A^40 [100 ms apart]" in shown
    assert "A →    open particles.%d · (write 100 B)^(10 to 20) · close" in shown


def test_long_rules_are_folded(tmp_path: Path) -> None:
    calls = Calls()
    for number in range(30):
        calls.opens(number + 1, f"/run/{'abcdefghijklmnopqrstuvwxyzABCD'[number]}")
    calls.save(tmp_path / "m")
    assert "· … 14 more ·" in grammar(tmp_path, "m")
    assert "…" not in grammar(tmp_path, "m", "--all")


def test_a_folder_is_its_only_model_or_a_list(tmp_path: Path) -> None:
    simulation(100).save(tmp_path / "cloud-0.model", STACKS)
    (tmp_path / "README").write_text("no model")
    assert "100 phases" in grammar(tmp_path, ".")
    simulation(20).save(tmp_path / "cloud-1.model")
    assert grammar(tmp_path, ".") == LIST
    told = json.loads(grammar(tmp_path, ".", "--json"))
    assert [one["calls"] for one in told["models"]] == [1203, 243]
    assert grammar(tmp_path, ".", "--thread", "0") == (
        "halcyon: .: several models; name one of them: halcyon grammar ./NAME\n[exit 2]"
    )


def test_a_folder_without_models(tmp_path: Path) -> None:
    assert grammar(tmp_path, ".") == (
        "halcyon: .: no saved model in this folder; such files begin with HALCMODL or HALCGRAM\n[exit 2]"
    )


def test_for_machines(tmp_path: Path) -> None:
    simulation(100).save(tmp_path / "m", STACKS)
    told = json.loads(grammar(tmp_path, "m", "--json"))
    assert told["format"] == 1
    step = told["rules"][1]
    assert (step["name"], step["uses"], step["calls"], step["bytes"]) == ("A", 100, 12, 9312)
    assert step["body"][2] == {"symbol": 6, "times": 9}
    assert told["rules"][0]["body"][-1] == {"rule": "A", "times": 100}
    assert told["symbols"][0]["operation"] == "open"


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\x7fELF" + bytes(60))
    assert grammar(tmp_path, "x") == (
        "halcyon: x: at byte 0: no saved model: such a file begins with HALCMODL and has 32 bytes at least\n[exit 1]"
    )
    assert grammar(tmp_path, "none") == "halcyon: none: No such file or directory\n[exit 1]"


def test_pictures_are_svg_or_png(tmp_path: Path) -> None:
    simulation(3).save(tmp_path / "m")
    assert grammar(tmp_path, "m", "-o", "m.jpg") == (
        "halcyon: -o m.jpg: expected a name that ends in .svg or .png\n[exit 2]"
    )
    grammar(tmp_path, "m", "-o", "m.svg")
    assert (tmp_path / "m.svg").read_text().startswith("<?xml")


@pytest.mark.skipif(not shutil.which("addr2line"), reason="addr2line is not installed")
def test_frames_become_functions_where_the_binary_is_at_hand(tmp_path: Path) -> None:
    (tmp_path / "cloud.c").write_text(
        "int output(int x) {\n    return x + 1;\n}\nint main(void) { return output(1); }\n"
    )
    subprocess.run(["cc", "-g", "-O0", "-o", "cloud", "cloud.c"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "cloud"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    begin = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" output"))
    learnt = read_learnt(simulation(3).save(tmp_path / "m", {1: f"libc.so.6+0x1 cloud+0x{begin + 1:x} cloud+0xffffff"}))
    found = with_places(learnt, [tmp_path])
    assert found.symbol[4].stack == "libc.so.6+0x1 output@cloud.c:1@cloud cloud+0xffffff"
    with pytest.raises(UsageError, match=r"no file in .* has the name of one in the call stacks: libc.so.6, cloud"):
        with_places(learnt, [tmp_path / "elsewhere"])


SIMULATION = """\
cloud.model
1,203 calls from 7 call sites, in 50.0 s, 24.1 ms of it in the calls
4.10 kB read by 1 call at 205 MB/s, 931 kB written by 1,000 calls at 46.6 MB/s
100 phases, one every 500 ms ± 22.5 µs, each 11.9 calls, 9.26 kB, 293 µs long

Rules
S is the whole input, x^9 is x nine times, [2.0 s] a pause that parts phases: of more than 50.0 ms
the figures are of one use; share is of the time in all calls, by all uses together
rule                                                              used   calls     bytes   in calls   share    lasts
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
S →    open input.txt · read 4 KiB · close [500 ms each] A^100       1   1,203    935 kB    24.1 ms   100 %   50.0 s
A →    open out.%06d.dat · write 96 B · (write 1 KiB)^9 · close    100      12   9.31 kB     240 µs   100 %   295 µs

Call sites
#   call       file           from               seen   bytes     takes     share
─────────────────────────────────────────────────────────────────────────────────
1   open64     input.txt      context 00000007      1       –   20.0 µs   < 0.1 %
2   pread64    input.txt      context 00000008      1   4 KiB   20.0 µs   < 0.1 %
3   close      input.txt      context 00000009      1       –   20.0 µs   < 0.1 %
4   open64     out.%06d.dat   cloud+0x1a2b        100       –   20.0 µs     8.3 %
5   pwrite64   out.%06d.dat   cloud+0x1b00        100    96 B   20.0 µs     8.3 %
6   pwrite64   out.%06d.dat   cloud+0x1c00        900   1 KiB   20.0 µs      75 %
7   close      out.%06d.dat   libc.so.6+0x99      100       –   20.0 µs     8.3 %"""
LIST = """\

Models in .
rules and call sites of the thread with most calls
file            threads   calls   rules   call sites
────────────────────────────────────────────────────
cloud-0.model         1   1,203       2            7
cloud-1.model         1     243       2            7"""
