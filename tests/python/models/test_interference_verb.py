"""Transcripts of `halcyon model interference`, against a workload computed by hand."""

import gzip
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from model_command import model, swf

from halcyon.errors import ConfigError
from halcyon.models.interference import SizeShare, concurrency
from halcyon.models.pictures.concurrency import draw_concurrency
from halcyon.models.printed.concurrency import steps
from halcyon.models.workload import Workload, read_workload

# 0 to 10 s on 8 cores, 4 to 6 s on 2, 18 to 20 s on 2, and a job that never ran. Of 20 s, none runs in 8 (10 to 18),
# one in 10 (0 to 4, 6 to 10, 18 to 20), and two in 2 (4 to 6): mean 14 / 20. Two of three jobs have 2 cores or fewer;
# they took 4 of 14 s.
JOBS = swf((1, 0, 0, 10, 8), (2, 1, 3, 2, 2), (3, 18, 0, 2, 2), (4, 5, -1, -1, 4))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w.swf").write_text(JOBS)
    return tmp_path


def test_a_workload_by_hand(folder: Path) -> None:
    """Two or more in I/O: 0.1 × 0.1² and 0.1 × 0.5². Another: 0.5 × 0.1 + 0.1 × (1 - 0.9²) = 0.069, and
    0.5 × 0.5 + 0.1 × (1 - 0.5²) = 0.325."""
    assert model("interference", "w.swf", "--io-share", "10,50%", directory=folder) == TOLD


TOLD = """1 of 4 jobs left out: start not known (1)

Jobs at once: 3 jobs over 20.0 s
in so much of the time, as many jobs run or fewer; none runs in 40.0 %
 mean   5 % of time   25 % of time   median   75 % of time   95 % of time   most
────────────────────────────────────────────────────────────────────────────────
0.700             0              0        1              1              2      2

Sizes of jobs
on so many cores or fewer; job time: jobs weighted by their run time
cores   of jobs   of job time
─────────────────────────────
    2    66.7 %        28.6 %
    8     100 %         100 %

I/O at once
probabilities; each job spends so much of its time in I/O, independently of the others
time in I/O   two or more are in I/O   a job that starts its I/O finds another
──────────────────────────────────────────────────────────────────────────────
       10 %                    0.1 %                                     6.9 %
       50 %                    2.5 %                                    32.5 %"""


def test_the_same_for_machines(folder: Path) -> None:
    told = json.loads(model("interference", "w.swf", "--io-share", "50", "--json", directory=folder))
    assert (told["jobs"], told["left_out"], told["span_s"]) == (3, {"start not known": 1}, 20)
    assert told["running"] == pytest.approx([0.4, 0.5, 0.1])
    assert told["probabilities"] == [
        {"io_share": 0.5, "two_or_more": pytest.approx(0.025), "another": pytest.approx(0.325)}
    ]


def test_always_the_same_number_of_jobs() -> None:
    """Of 2 jobs that write half of the time, both write in a quarter of it, and each finds the other one writing in a
    half; a single job meets none."""
    told = json.loads(model("interference", "--jobs-at-once", "2", "--io-share", "50", "--json"))
    assert told["probabilities"] == [{"io_share": 0.5, "two_or_more": 0.25, "another": 0.5}]
    alone = json.loads(model("interference", "--jobs-at-once", "1", "--io-share", "50", "--json"))
    assert alone["probabilities"] == [{"io_share": 0.5, "two_or_more": 0.0, "another": 0.0}]
    text = model("interference", "--jobs-at-once", "2", "--io-share", "50")
    assert text.startswith("\nalways 2 jobs at once\n")
    assert text.splitlines()[-1].split() == ["50", "%", "25.0", "%", "50.0", "%"]


def test_jobs_of_unknown_size_are_told(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("JobID|Start|End\n1|2026-01-01T00:00:00|2026-01-01T00:01:00\n")
    told = model("interference", "w", "--io-share", "50", directory=tmp_path)
    assert "no job's number of cores is known" in told
    (tmp_path / "w").write_text(swf((1, 0, 0, 10, 8), (2, 1, 3, 2, -1)))
    assert "; 1 job of unknown size left out\n" in model("interference", "w", directory=tmp_path)


def test_many_sizes_are_told_at_powers_of_two() -> None:
    """Of 5, 10, 15 … 80, then 1000 cores: one size is at most 8, three at most 16 …; 128 to 512 add nothing."""
    sizes = [SizeShare(5 * n, n / 17, n / 34) for n in range(1, 17)] + [SizeShare(1000, 1, 1)]
    assert [(one.cores, round(one.of_jobs * 17)) for one in steps(sizes)] == [
        (8, 1), (16, 3), (32, 6), (64, 12), (128, 16), (1000, 17),
    ]  # fmt: skip
    assert steps(sizes[:12]) == sizes[:12]


def test_packed_traces_are_read(folder: Path) -> None:
    packed = gzip.compress(JOBS.encode())
    (folder / "w.swf.gz").write_bytes(packed)
    assert read_workload(folder / "w.swf.gz") == read_workload(folder / "w.swf")
    (folder / "w.swf.gz").write_bytes(packed[:-9])
    with pytest.raises(ConfigError, match=r"w\.swf\.gz: a damaged gzip file"):
        read_workload(folder / "w.swf.gz")


def texts(svg: Path) -> list[str]:
    return [element.text or "" for element in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_picture_shows_sizes_jobs_at_once_and_both_probabilities(folder: Path) -> None:
    model("interference", "w.swf", "-o", "w.svg", directory=folder)
    said = texts(folder / "w.svg")
    for expected in (
        "w.swf: 3 jobs", "share of jobs", "share of job time", "share of time", "so many, or fewer",
        "two or more are in I/O", "a job that starts finds another",
    ):  # fmt: skip
        assert expected in said


def test_a_picture_without_sizes_says_so(tmp_path: Path) -> None:
    draw_concurrency(concurrency(Workload([0], [5], [0], {}), [0.1]), "w", tmp_path / "w.svg")
    assert "no job's number of cores is known" in texts(tmp_path / "w.svg")


def test_the_picture_reaches_the_largest_share_of_io(folder: Path) -> None:
    """The axis of the probabilities then has a mark more at 80 %."""
    marks = {}
    for share in ("20", "90"):
        model("interference", "w.swf", "--io-share", share, "-o", f"{share}.svg", directory=folder)
        marks[share] = texts(folder / f"{share}.svg").count("80 %")
    assert marks["90"] == marks["20"] + 1


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        ("other.txt", "halcyon: other.txt:1: 3 fields; expected 18 of the Standard Workload Format", 1),
        ("idle.swf", "halcyon: idle.swf: no job that ran (took no time: 1); expected one or more", 1),
        ("missing.swf", "halcyon: missing.swf: No such file", 1),
        ("w.swf --io-share 5,101", "argument --io-share: '101' is no percentage from 0 to 100", 2),
        ("w.swf --io-share=-1", "argument --io-share: '-1' is no percentage from 0 to 100", 2),
        ("w.swf --io-share few", "argument --io-share: 'few' is no percentage from 0 to 100", 2),
        ("w.swf -o w.pdf", "halcyon: -o w.pdf: expected a name that ends in .svg or .png", 2),
        ("w.swf -o no/w.svg", "halcyon: -o no/w.svg: no is no directory; create it, or name another one", 2),
        ("", "halcyon: WORKLOAD is missing: a trace in the Standard Workload Format, or the output of sacct -P", 2),
        ("w.swf --jobs-at-once 3", "halcyon: --jobs-at-once goes without a workload", 2),
        ("--jobs-at-once 3 -o w.svg", "halcyon: -o goes with a workload, whose distributions it draws", 2),
        ("--jobs-at-once 200000", "halcyon: --jobs-at-once 200000; expected 100000 or fewer", 2),
    ],
)
def test_input_without_sense_is_refused(folder: Path, arguments: str, message: str, code: int) -> None:
    (folder / "other.txt").write_text("not a trace\n")
    (folder / "idle.swf").write_text(swf((1, 0, 0, 0, 8)))
    told = model("interference", *arguments.split(), directory=folder)
    assert message in told
    assert told.endswith(f"[exit {code}]")
    assert "Traceback" not in told
    assert not list(folder.glob("*.svg"))
