"""Transcripts of `halcyon model`."""

import json
from pathlib import Path

import pytest
from model_command import model
from synthetic import MIB, Trace


def test_a_table_of_jobs() -> None:
    assert model("stripes", "--total", "480", "--request", "160", "--jobs", "3") == JOBS


JOBS = """
480 targets, 160 stripes per job
jobs   targets in use   stripes    load
───────────────────────────────────────
   1          160.000       160   1.000
   2          266.667       320   1.200
   3          337.778       480   1.421"""


def test_several_requests_with_measured_points() -> None:
    told = model("stripes", "--total", "480", "--request", "160,64", "--jobs", "1", "--points", "wright:6.3")
    assert told == REQUESTS


REQUESTS = """
480 targets, 160 stripes per job
jobs   targets in use   stripes    load
───────────────────────────────────────
   1          160.000       160   1.000

480 targets, 64 stripes per job
jobs   targets in use   stripes    load
───────────────────────────────────────
   1           64.000        64   1.000

measured, and expected
jobs   stripes each   in use, measured   in use, expected   deviation   load, measured   load, expected
───────────────────────────────────────────────────────────────────────────────────────────────────────
   4             32              115.2            115.759      -0.5 %            1.111            1.106
   4             64              212.2            209.199      +1.4 %            1.206            1.224
   4             96              286.2            283.392      +1.0 %            1.342            1.355
   4            128              348.0            341.182      +2.0 %            1.471            1.501
   4            160              387.8            385.185      +0.7 %            1.650            1.662"""


def test_a_sweep() -> None:
    told = model("stripes", "--total", "480", "--jobs", "4", "--measured", "wright:F.1")
    assert told.startswith(SWEEP)
    assert told.endswith("11 % fewer targets in use, load 1.501 instead of 1.662")


SWEEP = """
81 points measured
                             stripes   stripe size   bandwidth   of the start
─────────────────────────────────────────────────────────────────────────────
start                              2         1 MiB    313 MB/s          1.0 ×
best by stripe count alone       160         1 MiB   4.07 GB/s         13.0 ×
best by stripe size alone          2        64 MiB    399 MB/s          1.3 ×
best                             160       128 MiB   15.6 GB/s         49.9 ×

480 targets, 4 jobs at once
"""


def test_logs_beside_a_shared_file() -> None:
    told = model("stripes", "--total", "480", "--logs", "--ranks-per-node", "16", "--points", "wright:G.9")
    assert told.endswith(
        "\n\nlogs are faster up to 512 ranks: load 2.419, 1.19 × the shared file\n"
        "logs are slower from 1,024 ranks on: load 4.327, 0.62 × the shared file\n"
        "load 3 is reached with 688 ranks, on whole nodes of 16, between the two"
    )


def test_targets_of_a_published_experiment() -> None:
    assert model("stripes", "--targets", "wright:G.6/2") == TARGETS


TARGETS = """wright:G.6/2: 512 files with 1,024 stripes on 480 targets (as the table says)

targets by their stripes
stripes   actual   expected   std. dev.
───────────────────────────────────────
      0       47       56.6       ± 6.0
      1      135      121.3       ± 8.5
      2      126      129.6       ± 9.7
      3       88       92.2       ± 8.3
      4       55       49.1       ± 6.0
      5       22       20.9       ± 4.1
      6        6        7.4       ± 2.5
      7        1        2.2       ± 1.5
      8        0        0.6       ± 0.8
      9        0        0.1       ± 0.4

targets in use: 433 actual, 423.401 expected at random
load: 2.365 actual, 2.419 expected
targets in use deviate by +1.61 standard deviations; chance of as much: 0.112
stripes on a target: at most 7; standard deviation 1.40 actual, 1.46 expected"""


def test_jobs_as_recorded_with_those_of_unknown_layout_first(tmp_path: Path) -> None:
    for name, servers in (("known", ["OST0000", "OST0001"]), ("unknown", None)):
        trace = Trace()
        trace.write(0, trace.file("/l/x", servers=servers, stripe_bytes=MIB), 0, MIB, 0, 1)
        trace.store(tmp_path / name)
    assert model("stripes", "--total", "8", "--from", "unknown", "known", directory=tmp_path) == RECORDED


RECORDED = """no layout known, not counted: unknown: 1 file on lustre

1 job with known layouts
job     files   stripes   most of a file   files of unknown layout
──────────────────────────────────────────────────────────────────
known       1         2                2                         0

targets by their stripes
stripes   recorded   expected   std. dev.
─────────────────────────────────────────
      0          6        6.0       ± 0.0
      1          2        2.0       ± 0.0

targets in use: 2 recorded, 2.000 expected at random
load: 1.000 recorded, 1.000 expected
targets in use deviate by +0.00 standard deviations; chance of as much: 1.000
stripes on a target: at most 1; standard deviation 0.43 recorded, 0.43 expected
these requests keep load 1.5
targets for load 1.5: 2; the file system has enough"""


def test_writers_on_one_target_as_published() -> None:
    told = model("probe", "--points", "wright:F.2").splitlines()
    assert told[1] == "writers on one target: wright:F.2"
    assert told[5].split()[:3] == ["2", "90.8", "MB/s"]
    assert len(told) == 20


def test_logs_of_ranks() -> None:
    told = model("stripes", "--total", "480", "--logs", "--ranks", "512,1024", "--ranks-per-node", "16")
    assert told == LOGS


LOGS = """
480 targets, a file of 2 stripes per rank
ranks   targets in use   stripes    load
────────────────────────────────────────
  512          423.401     1,024   2.419
1,024          473.326     2,048   4.327

load 3 is reached with 688 ranks, on whole nodes of 16"""


def test_what_to_request_and_to_buy() -> None:
    assert model("stripes", "--total", "480", "--request", "160", "--jobs", "4", "--recommend") == PURCHASE


PURCHASE = """4 jobs with 160 stripes each on 480 targets: load 1.662, 385.185 targets in use
request for load 1.5: 127 stripes per job (load 1.496)
targets for load 1.5: 601 (121 more)"""


def test_a_request_whose_load_is_the_limit_but_for_rounding() -> None:
    told = model("stripes", "--total", "480", "--request", "320", "--jobs", "2", "--recommend")
    assert told.splitlines()[1:] == [
        "request for load 1.5: 320 stripes per job (load 1.500)",
        "targets for load 1.5: 480; the file system has enough",
    ]


def test_a_request_by_measurements(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("striping_factor,bytes_per_s\n160,4541366000\n64,3910507000\n32,3000000000\n")
    assert model(
        "stripes", "--total", "480", "--jobs", "4", "--recommend", "--measured", "m.csv", directory=tmp_path
    ).endswith(
        "request 64 stripes instead of 160: 14 % less bandwidth for a job, 46 % fewer targets in use, load 1.224 "
        "instead of 1.662"
    )


def test_the_same_for_machines() -> None:
    told = json.loads(model("stripes", "--total", "480", "--request", "160", "--jobs", "2", "--json"))
    assert told["rows"][1] == {"jobs": 2, "request": 160, "requested": 320.0, "in_use": 800 / 3, "load": 1.2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--request 2", "--total N is missing: the storage targets of the file system"),
        ("--total 480", "--request R is missing: the stripes of each job's file"),
        ("--total 4 --request 5", "stripes: 5; expected 0 up to the number of targets"),
        ("--total 4 --request 2 --load 2", "--load goes with --recommend or --logs or --from"),
        ("--total 4 --request 2 --measured m.csv", "--request goes without --measured"),
        ("--total 4 --request 2 --recommend --measured m.csv", "--request goes without --measured, whose source has"),
        ("--total 4 --load 2 --recommend --measured m.csv", "--load goes without --measured"),
        ("--total 4 --request 2 --recommend --accept-loss 5", "--accept-loss goes with --measured"),
        ("--total 4 --request 2 --start 2,1MiB", "--start goes with --measured"),
        ("--total 4 --request 2,3 --recommend", "--request: 2 requests; --recommend takes one"),
        ("--total 4 --targets x --from y", "--from and --targets answer different questions"),
        ("--total 4 --from y --points wright:6.3", "--points goes without --from"),
        ("--total 4 --measured wright:F.1 --start two", "--start two: expected a number of stripes and their size"),
        ("--total 4 --measured wright:F.3", "wright:F.3: no such published table; known: wright:6.2"),
        ("--total 480 --logs --ranks 2 --points wright:G.9", "--points wright:G.9: has ranks and bandwidths"),
        (
            "--total 4 --request 2 --points wright:6.3",
            "115.2 targets in use by 4 jobs; expected more than 0 and at most",
        ),
        ("--total 4 --request 2 -o load.jpg", "-o load.jpg: expected a name that ends in .svg or .png"),
        ("--targets /nowhere", "/nowhere: no such directory; expected one, a CSV file, or a name such as wright:6.5/1"),
        ("--total 4 --logs --recommend", "--logs and --recommend answer different questions"),
        ("--total 4 --request 2 --jobs 1001", "--jobs 1001; expected 1000 or fewer"),
        ("--total 4 --request 2 --recommend --jobs 1000001", "--jobs 1000001; expected 1000000 or fewer"),
        ("--total 4 --request 2 --recommend --load 1", "load: 1; expected a load above 1"),
        ("--total 4 --logs --load 0.5", "expected a load of 1 or more"),
        ("--total 4 --logs --ranks 1,x", "'x' is no whole number"),
    ],
)
def test_questions_without_sense_are_refused(arguments: str, message: str) -> None:
    assert_refused(model("stripes", *arguments.split()), message)


def assert_refused(told: str, message: str) -> None:
    assert message in told
    assert told.endswith("[exit 2]")
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "expected DIR, a directory on the file system to measure, or --points SOURCE"),
        ("--points wright:F.2 --rounds 3", "--rounds goes with DIR"),
        ("/proc", "/proc: on proc, which gives no choice of target; expected Lustre or GlusterFS"),
        ("/nowhere", "/nowhere: no such directory"),
        ("/proc --bytes much", "--bytes: 'much' is no size"),
        ("--points wright:F.2 -o writers.txt", "-o writers.txt: expected a name that ends in"),
    ],
)
def test_probes_without_sense_are_refused(arguments: str, message: str) -> None:
    assert_refused(model("probe", *arguments.split()), message)


def test_measurements_that_nobody_can_have_made_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loads.csv").write_text("jobs,request,in_use\n1,2,3\n")
    told = model("stripes", "--total", "480", "--request", "2", "--points", str(tmp_path / "loads.csv"))
    assert_refused(told, "3 targets in use by 1 jobs; expected more than 0 and at most 2")
    (tmp_path / "targets.csv").write_text("stripes,targets,request\n1000000000,1,1\n")
    told = model("stripes", "--targets", str(tmp_path / "targets.csv"))
    assert "targets.csv: 1,000,000,000 stripes; expected 10,000,000 or fewer in all" in told


def test_a_missing_column_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("jobs,in_use\n4,100\n")
    told = model("stripes", "--total", "480", "--request", "2", "--points", "m.csv", directory=tmp_path)
    assert told == "halcyon: m.csv:1: no column 'request'; found: jobs, in_use\n[exit 1]"
    (tmp_path / "m.csv").write_text("jobs,request,in_use\n")
    told = model("stripes", "--total", "480", "--request", "2", "--points", "m.csv", directory=tmp_path)
    assert told == "halcyon: m.csv: no measurement: it has a line of names alone\n[exit 1]"
