"""Transcripts of `halcyon grammar`."""

import json
import os
import resource
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from calls_by_hand import STACKS, Calls, simulation, with_changing_counts
from model_bytes import join

from halcyon import cli
from halcyon.errors import UsageError
from halcyon.predict.code_places import with_places
from halcyon.predict.learnt import read_learnt


def grammar(directory: Path, *arguments: str, memory_bytes: int = resource.RLIM_INFINITY) -> str:
    """What a terminal of 120 columns without colours would show, and the exit code when it is not 0."""
    limits = (memory_bytes, resource.getrlimit(resource.RLIMIT_AS)[1])
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    environment["PYTHONPATH"] = str(Path(cli.__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "halcyon", "grammar", *arguments],
        cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits),
    )  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "\n".join([*lines, *([f"[exit {done.returncode}]"] if done.returncode else [])])


def test_a_simulation(tmp_path: Path) -> None:
    simulation(100).save(tmp_path / "cloud.model", STACKS)
    assert grammar(tmp_path, "cloud.model") == SIMULATION


def test_what_goes_to_another_program_is_a_page_wide(tmp_path: Path) -> None:
    calls = Calls()
    for step in range(50):
        calls.opens(1, f"/run/a-file-with-a-long-name.{step}.dat")
        for place in range(2, 12):
            calls.writes(place, 0, 100 * place + step)
            calls.reads(place + 20, 0, 4096)
        calls.closes(40)
    calls.save(tmp_path / "m")
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-m", "halcyon", "grammar", "m"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_thread_of_several(tmp_path: Path) -> None:
    one = simulation(3).save(tmp_path / "one")
    join(tmp_path / "two", one, one)
    assert grammar(tmp_path, "two", "--thread", "1").startswith("two, thread 1 (of 0 to 1)\n39 calls from")
    assert grammar(tmp_path, "one", "--thread", "1") == (
        "halcyon: one: no thread 1; the file has only thread 0\n[exit 2]"
    )


def test_whole_stacks(tmp_path: Path) -> None:
    simulation(2).save(tmp_path / "cloud.model", STACKS)
    shown = grammar(tmp_path, "cloud.model", "--stacks")
    assert shown.endswith("#7 close\n    libc.so.6+0x99\n    libhdf5.so.103+0x77")


def test_without_call_stacks_it_says_how_to_get_them(tmp_path: Path) -> None:
    simulation(2).save(tmp_path / "cloud.model", {8: "H5Dread"})
    shown = grammar(tmp_path, "cloud.model")
    assert "context" not in shown.partition("no call stacks")[0]
    assert "pread64    input.txt      H5Dread" in shown
    assert shown.endswith("\nno call stacks are known; of a run recorded with --contexts, they would be")
    simulation(2).save(tmp_path / "cloud.model", STACKS)
    assert "no call stacks" not in grammar(tmp_path, "cloud.model")


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


def test_a_damaged_model_does_not_hide_the_others(tmp_path: Path) -> None:
    whole = simulation(100).save(tmp_path / "cloud-0.model", STACKS).read_bytes()
    simulation(20).save(tmp_path / "cloud-1.model")
    (tmp_path / "cloud-0.5.model").write_bytes(whole[:-1])
    said, _, rest = grammar(tmp_path, ".").partition("\n")
    assert said.startswith("halcyon: cloud-0.5.model: at byte 16: a length of")
    assert rest == LIST
    _, _, told = grammar(tmp_path, ".", "--json").partition("\n")
    assert [one["calls"] for one in json.loads(told)["models"]] == [1203, 243]
    for name in ("cloud-0.model", "cloud-1.model"):
        (tmp_path / name).write_bytes(whole[:-2])
    lines = grammar(tmp_path, ".").splitlines()
    assert [line.split(":")[1].strip() for line in lines[:-1]] == ["cloud-0.5.model", "cloud-0.model", "cloud-1.model"]
    assert lines[-1] == "[exit 1]"


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


def test_a_huge_file_that_begins_as_a_model_costs_nothing(tmp_path: Path) -> None:
    huge = 14 << 30
    begins = {
        b"HALCMODL"
        + struct.pack("<IIQQ", 4, 1, 4096, 0): "at byte 16: a length of 4096 bytes, and the file has 15032385536:"
        " cut off, or not whole",
        b"HALCMODL" + struct.pack("<IIQQ", 4, 1, huge, 0): "15032385536 bytes; a saved model has 1073741824 at most",
        b"HALCGRAM"
        + struct.pack("<IIIIQQQQ", 1, 0, 1, 1, 1, 1, 0, 0): "15032385536 bytes; a saved model has 1073741824 at most",
    }
    for begin, complaint in begins.items():
        (tmp_path / "x").write_bytes(begin)
        os.truncate(tmp_path / "x", huge)
        assert " ".join(grammar(tmp_path, "x", memory_bytes=6 << 30).split()) == f"halcyon: x: {complaint} [exit 1]"


def test_what_may_never_end_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero"):
        assert grammar(tmp_path, name) == (
            f"halcyon: {name}: no saved model: a pipe, socket or device; expected a file\n[exit 1]"
        )


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
S is the whole input, x^9 is x nine times, [2.0 s] a pause between phases, of more than 50.0 ms
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
