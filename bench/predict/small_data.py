"""Makes the data sets of tests/data/predict: what rank 0 of each application did, small enough for the repository.

python small_data.py RUNS [NAME…]      records what RUNS lacks of the applications, five times each, and stores all
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import ibis
import pyarrow as pa
import pyarrow.compute as pc
from applications import APPLICATIONS, RECORDING, ROOT, Application, find, record
from forecasts import NAIVE_TIMES, RECORDINGS, STORED, recordings, replayed
from ibis import _

from halcyon.observe.analysis.survey import Survey
from halcyon.observe.dataset import Dataset
from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.pack import pack
from halcyon.observe.recording.folder import DATA
from halcyon.observe.schema import Level
from halcyon.predict.accuracy import LIKELY
from halcyon.predict.streams import OPERATIONS

KEPT = (
    *("process", "thread", "number", "level", "call", "kind", "parent_level", "parent_call", "file", "offset", "bytes"),
    *("moved", "start_ns", "duration_ns", "wait_ns", "argument", "context"),
)
"""Columns of calls; those of which a source knows nothing are left out."""
TICK_NS = 1000
"""Times are rounded to it: most of a call's bytes are the digits of its times."""
NEUTRAL_HOST = "node"
ERRORS = ("error of gaps", "contiguous", "last value", "Markov-2", "in hindsight")


def whole_run(application: Application, runs: Path) -> Path:
    """The data set of the application's run below `runs`; recorded and packed if it is not there."""
    place = runs / application.name / f"{application.name}.halcyon"
    if not place.exists():
        record(application, runs / application.name)
    if not (place / DATA).exists():
        pack(place, place / DATA)
    return place / DATA


class Neutral:
    """Paths without the names of the machine, of who used it and of where things were."""

    def __init__(self, application: Application, folder: Path, host: str) -> None:
        places = {
            folder.resolve(): Path("/run") / application.name,
            ROOT: Path("/halcyon"),
            Path.home(): Path("/home/user"),
        }
        self._places = {str(at): str(to) for at, to in places.items()}
        self._host = re.compile(rf"(?<![\w-]){re.escape(host)}(?![\w-])")

    def __call__(self, text: str) -> str:
        for at, to in self._places.items():
            text = text.replace(at, to)
        return self._host.sub(NEUTRAL_HOST, text)


def rounded(times: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.multiply(pc.divide(times, TICK_NS), TICK_NS)


def calls_of_rank_0(dataset: Dataset, process: int) -> pa.Table:
    """Those that a replay may look at. What MPI's start made of stdio's buffers says so itself; nothing has parents."""
    calls = Survey(dataset).all_calls
    columns = [name for name in KEPT if name in calls.columns]
    chosen = calls.filter(
        (_.process == process)
        & _.level.isin([Level.POSIX, Level.STDIO])
        & _.kind.isin(OPERATIONS)
        & _.error.isnull()
        & ((_.level == Level.POSIX) | _.moved.notnull() | ~_.kind.isin(["read", "write"]))
        & ~((_.level == Level.POSIX) & (ibis.coalesce(_.result, 0) == -1))
    )
    table = chosen.order_by(["thread", "start_ns", "number"]).select(*columns).to_pyarrow()
    begin, end = table["start_ns"], pc.add(table["start_ns"], table["duration_ns"])
    for name, times in (("start_ns", rounded(begin)), ("duration_ns", pc.subtract(rounded(end), rounded(begin)))):
        table = table.set_column(table.schema.get_field_index(name), name, times)
    table = table.set_column(table.schema.get_field_index("number"), "number", pa.array(range(1, table.num_rows + 1)))
    return table.set_column(0, "process", pa.array([0] * table.num_rows, pa.int32()))


def numbered_anew(calls: pa.Table, dataset: Dataset, neutral: Neutral) -> tuple[pa.Table, pa.Table]:
    """The calls and the files that they have, which get the numbers from 0 on."""
    used = pc.unique(calls["file"].drop_null()).sort()
    paths = {row["file"]: row["path"] for row in dataset.files.select("file", "path").to_pyarrow().to_pylist()}
    new = pc.index_in(calls["file"], used).cast(pa.int32())
    calls = calls.set_column(calls.schema.get_field_index("file"), "file", new)
    names = [neutral(paths[old]) for old in used.to_pylist()]
    if not any(name.startswith("/run/") for name in names):
        raise RuntimeError("no file below the run's folder: it was moved, and its paths still name where it was")
    return calls, pa.table({"file": pa.array(range(len(names)), pa.int32()), "path": names})


def store(application: Application, whole: Path, place: Path) -> None:
    """Writes rank 0's part of the data set `whole` to `place`, which is replaced."""
    with Dataset.open(whole) as dataset:
        processes = dataset.processes.to_pyarrow().to_pylist()
        first = next(row for row in processes if row["rank"] == 0)
        neutral = Neutral(application, whole.parent.parent, first["host"])
        calls, files = numbered_anew(calls_of_rank_0(dataset, first["process"]), dataset, neutral)
        process = first | {"process": 0, "host": NEUTRAL_HOST, "pid": 1, "parent_pid": None, "calls": len(calls)}
        process |= {name: neutral(first[name]) for name in ("program", "command") if first[name]}
        told = neutral(dataset.info.command or "") or None
        info = replace(dataset.info, start=None, user=None, job=None, command=told)
    if place.exists():
        shutil.rmtree(place)
    with DatasetWriter(place, info) as writer:
        writer.write("calls", calls)
        writer.write("files", files)
        writer.write("processes", pa.Table.from_pylist([process]))


def spread(values: list[float]) -> str:
    return f"{median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def line(name: str, places: list[Path]) -> str:
    """A row of the table: how large the recordings are, and how forecasts of them did."""
    found = [replayed(place) for place in places]
    own = [one.score.whole.by[LIKELY] for one in found]
    size = sum(path.stat().st_size for place in places for path in place.rglob("*") if path.is_file())
    calls = median(one.score.stream.calls for one in found)
    shares = [f"{100 * median(getattr(one, share) or 0 for one in own):.2f}" for share in ("context", "offset", "hit")]
    gaps = [[one.gap_error(predictor) or 0 for one in found] for predictor in (LIKELY, *NAIVE_TIMES)]
    errors = [spread(values) for values in [*gaps, [one.hindsight for one in found]]]
    return f"| {' | '.join([name, str(len(places)), f'{calls:.0f}', str(size), *shares, *errors])} |"


def versions() -> list[str]:
    """Of what was recorded, as the programs say it."""
    asked = {
        "Open MPI": ["mpirun.openmpi", "--version"],
        "LAMMPS": ["lmp", "-h"],
        "OpenFOAM (Debian)": ["dpkg-query", "-W", "-f", "${Version}", "openfoam"],
        "HDF5 (Debian)": ["dpkg-query", "-W", "-f", "${Version}", "libhdf5-dev"],
    }
    told = []
    for name, command in asked.items():
        if shutil.which(command[0]):
            text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            if found := re.search(r"\d[\w.+~:-]*( \w{3} \d{4}[^\n]*)?", text):
                told.append(f"{name} {found[0]}")
    return [*told, f"Python {platform.python_version()}"]


def machine() -> str:
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    kernel = platform.release().split("-")[0]
    return f"{os.cpu_count()} cores ({model[1] if model else platform.machine()}), Linux {kernel}"


def described(stored: Path) -> str:
    """README.md beside the data sets."""
    there = [one for one in APPLICATIONS if (stored / one.name).exists()]
    settings = "\n".join(f"| {one.name} | {one.what} | {one.iterations} | {one.ranks} |" for one in there)
    measured = "\n".join(line(one.name, recordings(one.name, stored)) for one in there)
    return f"""# Recorded applications

What rank 0 of each application of `bench/predict/applications.py` did, as data sets: input of the tests that hold
forecasts to their bars (`tests/python/predict/test_recorded_applications.py`). Written, this page too, by

    python bench/predict/small_data.py RUNS

on {time.strftime("%Y-%m-%d")}, {machine()}; {", ".join(versions())};
recorded with `halcyon run {" ".join(RECORDING)}`.

| application | what | output phases | ranks |
|---|---|---|---|
{settings}

Of the recorded run, a data set here has the calls of levels posix and stdio that open, close, read, write, copy or
sync and did not fail, the files that they had, and rank 0's process; nothing else. Times are whole microseconds. The
folder of the run is `/run/NAME`, the machine `{NEUTRAL_HOST}`.

| application | recordings | calls | bytes of all | context, % | offset, % | hit, % | {" | ".join(ERRORS)} |
|---|---|---|---|---|---|---|---|---|---|---|---|
{measured}

Medians over the recordings, in brackets the least and the most; all recordings are kept. Each is a mean over all calls
but those of MPI's start and end, learning included. Error of gaps: between expected and observed interarrival times, as
a share of the error of always expecting none, which *contiguous* does; *last value* expects the time that came after
this call site the last time, *Markov-2* that of the last two. *In hindsight*: one constant for each transition between
two call sites, the median of its times, taken from the whole recording.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, metavar="RUNS")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--stored", type=Path, default=STORED, help="folder of the data sets")
    words = parser.parse_args()
    for application in [find(name) for name in words.names] or APPLICATIONS:
        if reason := application.missing():
            print(f"{application.name}: left out: {reason}", file=sys.stderr)
            continue
        for number in range(1, RECORDINGS + 1):
            store(
                application,
                whole_run(application, words.runs / str(number)),
                words.stored / application.name / str(number),
            )
        print(line(application.name, recordings(application.name, words.stored)), flush=True)
    (words.stored / "README.md").write_text(described(words.stored), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
