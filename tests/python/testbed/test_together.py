"""Two programs beside one another: whose bytes are counted, and when their times are refused."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.testbed.bed import DIRECTORY_VARIABLE, Bed, raise_to_stay, raised, take_down
from halcyon.testbed.metered import Program, Run, run_metered
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable
from halcyon.testbed.together import Compared, Round, compare

PLAN = Plan(compute=3, storage=1, mounts=3)

needs_bed = pytest.mark.skipif(bool(unavailable(PLAN)), reason=unavailable(PLAN))


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    with raised(PLAN) as standing:
        yield standing


def writer(name: str, hosts: tuple[str, ...], mebibytes: int, before: str = "") -> Program:
    write = f'{before}dd if=/dev/zero of="$TESTBED_MOUNT/{name}-$(hostname)" bs=1M count={mebibytes} oflag=direct'
    return Program(name, hosts, ("sh", "-c", write))


@needs_bed
def test_bytes_are_those_of_a_programs_own_hosts(bed: Bed) -> None:
    scene = run_metered(bed, [writer("A", ("c1", "c2"), 16), writer("B", ("c3",), 8)])
    for run, mebibytes in zip(scene.runs, (32, 8), strict=True):
        # Headers of packets and of the file system come on top.
        assert mebibytes << 20 <= run.sent_bytes[-1] <= 1.2 * (mebibytes << 20)
        assert 0 <= run.moving_from_s < run.moving_until_s <= run.seconds


@needs_bed
def test_a_host_with_two_processes_counts_once(bed: Bed) -> None:
    write = 'dd if=/dev/zero of="$TESTBED_MOUNT/$$" bs=1M count=4 oflag=direct'
    [run] = run_metered(bed, [Program("twice", ("c1", "c1"), ("sh", "-c", write))]).runs
    assert 8 << 20 <= run.sent_bytes[-1] <= 1.2 * (8 << 20)


@needs_bed
def test_starting_is_not_moving_data(bed: Bed) -> None:
    """The command waits for a moment that the test knows before it writes."""
    program = writer("late", ("c1",), 8, before="read t _ < /proc/uptime; echo $t; sleep 1; ")
    [run] = run_metered(bed, [program]).runs
    assert run.moving_from_s > 0.9
    assert run.seconds - run.moving_s > 0.9


@needs_bed
def test_a_round_has_both_alone_and_together(bed: Bed) -> None:
    for _ in range(3):  # a program that loses its core for long may not meet the other one
        seen: list[Round] = []
        told = compare(bed, writer("A", ("c1",), 24), writer("B", ("c2",), 16), 1, seen.append)
        assert told.rounds == seen
        if told.rounds[0].link_shares:
            break
    assert told.rounds[0].a.sent_bytes[-1] > 24 << 20 < told.rounds[0].a_alone.sent_bytes[-1]
    assert set(told.rounds[0].link_shares) == {"s1"}


@needs_bed
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("sh", "-c", "echo no such file >&2; exit 3"), "B failed on c2 with exit status 3: no such file"),
        (("true",), r"B sent \S+ bytes: it wrote nothing to the test bed's file system"),
        (
            ("sh", "-c", r"printf 'is \377 so' >&2; exit 3"),
            "B failed on c2 with exit status 3: is \N{REPLACEMENT CHARACTER} so",
        ),
        (("no-such-command",), "B failed on c2 with exit status 127"),
    ],
)
def test_a_program_without_data_is_an_error(bed: Bed, command: tuple[str, ...], words: str) -> None:
    with pytest.raises(HalcyonSystemError, match=words):
        compare(bed, writer("A", ("c1",), 2), Program("B", ("c2",), command), 1)


@needs_bed
def test_programs_that_share_a_host_are_refused(bed: Bed) -> None:
    with pytest.raises(UsageError, match="A and B share c2: bytes are counted by host"):
        compare(bed, writer("A", ("c1", "c2"), 1), writer("B", ("c2", "c3"), 1), 1)
    with pytest.raises(UsageError, match="no host 'c9'"):
        compare(bed, writer("A", ("c9",), 1), writer("B", ("c2",), 1), 1)


def lasting(seconds: float) -> Run:
    return Run(seconds, [0.0, seconds], [0, 1 << 25], 0.0, seconds)


ROUND = Round(lasting(6.0), lasting(0.7), lasting(6.6), lasting(4.9), control=1.0, link_shares={"s1": 0.96, "s2": 0.2})


def compared(*rounds: Round) -> Compared:
    none = Program("", (), ())
    return Compared(none, none, list(rounds), 50e6, 2)


def test_factors_are_medians_of_times_beside_over_times_alone() -> None:
    told = compared(ROUND, replace(ROUND, b=lasting(1.4)), replace(ROUND, b=lasting(7.0), a=lasting(9.0)))
    assert told.a_factor == pytest.approx(1.1)
    assert told.b_factor == pytest.approx(7.0)
    assert told.typical is told.rounds[0]
    assert told.refusals == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"link_shares": {"s1": 0.5, "s2": 0.4}}, "no storage link carried more than 0.500 of its rate"),
        ({"link_shares": {}}, "never moved data at the same time"),
        ({"control": 1.2}, "B alone differs from itself by a factor of 1.20"),
    ],
)
def test_times_without_meaning_are_refused(wrong: dict[str, object], words: str) -> None:
    bad = replace(ROUND, **wrong)  # type: ignore[arg-type]
    [refusal] = compared(bad, bad).refusals
    assert words in refusal


def command(*words: str, directory: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {DIRECTORY_VARIABLE: str(directory / "bed")}
    line = [sys.executable, "-m", "halcyon", "testbed", "together", *words]
    return subprocess.run(line, env=environment, cwd=directory, capture_output=True, text=True, timeout=120)


@needs_bed
def test_the_command_draws_what_it_tells(tmp_path: Path) -> None:
    raise_to_stay(PLAN, tmp_path / "bed")
    try:
        a, b = writer("A", ("c1", "c2"), 24), writer("B", ("c3",), 8)
        ways = ["--a-on", "c1,c2", "--b-on", "c3", "--rounds", "1", "--json", "-o", "together.png"]
        done = command(*ways, "--", *a.command, "--", *b.command, directory=tmp_path)
    finally:
        take_down(tmp_path / "bed")
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    assert len(told["rounds"]) == 1
    assert (done.returncode == 1) == bool(told["refusals"])
    assert (tmp_path / "together.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("words", [["a"], ["a", "--"], ["--", "b"], ["a", "--", "b", "--", "c"]])
def test_other_than_two_commands_are_refused(words: list[str], tmp_path: Path) -> None:
    done = command("--a-on", "c1", "--b-on", "c2", "--", *words, directory=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "two commands are needed, A and B" in done.stderr
