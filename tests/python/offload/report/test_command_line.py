"""Transcripts of the `halcyon` command: `$ command`, then what it prints and its exit code."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from synthetic_runs import write_counts

from halcyon import __version__, cli, compiled, errors
from halcyon.cli import main
from halcyon.offload.comparison import Comparison, open_comparison
from halcyon.offload.diff import Difference
from halcyon.offload.difference_size import DifferenceSize
from halcyon.offload.metrics import metrics_of
from halcyon.quantities import ABSENT


def halcyon(directory: Path, *arguments: str) -> str:
    """What a terminal of 100 columns without colours would show, and the exit code when it is not 0."""
    environment = {
        **os.environ,
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONPATH": str(Path(cli.__file__).resolve().parents[1]),
    }
    done = subprocess.run(
        [sys.executable, "-m", "halcyon", *arguments],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "\n".join([*lines, *([f"[exit {done.returncode}]"] if done.returncode else [])])


def test_help_lists_the_verbs(tmp_path: Path) -> None:
    shown = halcyon(tmp_path, "--help")
    assert shown.startswith("Usage: halcyon [-h] [--version] VERB ...\n")
    for verb in ("summary", "report", "diff", "view", "convert", "check"):
        assert f"\n    {verb} " in shown


def test_help_of_summary(tmp_path: Path) -> None:
    assert (
        halcyon(tmp_path, "summary", "--help")
        == """\
Usage: halcyon summary [-h] [--json] RUN [RUN ...]

Prints what runs left behind: first the counts of whatever was dropped, skipped, spilled, inlined,
switched, incomplete, restarted or lost, then times, bytes and throughput. Several runs are
compared side by side.

Positional Arguments:
  RUN         directory of a run (holds run.json)

Options:
  -h, --help  show this help message and exit
  --json      print numbers for machines, in SI units"""
    )


def test_version(tmp_path: Path) -> None:
    assert halcyon(tmp_path, "--version") == f"halcyon {__version__}"


def test_summary_of_a_calm_run(hand_run: Path) -> None:
    assert (
        halcyon(hand_run.parent, "summary", "hand")
        == """\
cloud: hand
nothing dropped, spilled, skipped or switched

approach                 halcyon
ranks, cores             2, 3
output phases            3
run time                 5.00 s
compute time             3.10 s
visible time, all        900 ms (14 %)
visible time, a phase    300 ms (200–400)
spread over ranks        200 ms, worst 300 ms
spread over phases       200 ms
longest wait for room    50.0 ms
bytes handed over        36.0 MB
bytes stored             27.0 MB of 36.0 MB
servers busy             36 %
store / compute time     55 %
throughput, simulation   40.0 MB/s
throughput, servers      20.0 MB/s"""
    )


def test_summary_opens_with_what_was_not_normal(hand_run: Path) -> None:
    write_counts(hand_run, finished=False, iterations=3, skipped_blocks=2, skipped_bytes=12_000_000, messages=["full"])
    assert halcyon(hand_run.parent, "summary", "hand").splitlines()[:4] == [
        "cloud: hand",
        "2 blocks (12.0 MB) dropped because the buffer was full (policy skip)",
        "server n0000 has not finished: its counts stop at iteration 3",
        "n0000: full",
    ]


def test_summary_as_json_holds_numbers_in_si_units(hand_run: Path) -> None:
    document = json.loads(halcyon(hand_run.parent, "summary", "--json", "hand"))
    (run,) = document["runs"]
    assert (run["label"], run["bytes"], run["departures"]) == ("halcyon", 36_000_000, [])
    assert run["simulation_throughput_bytes_per_s"] == pytest.approx(40e6)
    assert [phase["slowest_s"] for phase in run["phases"]] == pytest.approx([0.3, 0.2, 0.4])
    assert document["scalability"] is None


def test_verb_that_does_not_exist(tmp_path: Path) -> None:
    shown = halcyon(tmp_path, "sumary")
    assert shown.startswith("halcyon: argument VERB: invalid choice: 'sumary'")
    assert shown.endswith("\ntry: halcyon --help\n[exit 2]")


def test_summary_of_no_run(tmp_path: Path) -> None:
    expected = "halcyon: the following arguments are required: RUN\ntry: halcyon summary --help\n[exit 2]"
    assert halcyon(tmp_path, "summary") == expected


def test_summary_of_a_directory_that_is_not_there(tmp_path: Path) -> None:
    expected = (
        "halcyon: out: no such directory; expected the directory of a run's output, which has a run.json\n[exit 2]"
    )
    assert halcyon(tmp_path, "summary", "out") == expected


def test_report_of_something_that_is_not_there(tmp_path: Path) -> None:
    expected = "expected a recorded run, another tool's trace, or the directory of a run's output, which has a run.json"
    assert halcyon(tmp_path, "report", "out") == f"halcyon: out: no such file or directory; {expected}\n[exit 2]"


def test_summary_names_a_few_of_many_runs(tmp_path: Path) -> None:
    for number in range(1005):
        (tmp_path / "runs" / f"{number:04}").mkdir(parents=True)
        (tmp_path / "runs" / f"{number:04}" / "run.json").touch()
    named = "runs/0000 runs/0001 runs/0002 and 1,002 more"
    assert halcyon(tmp_path, "summary", "runs") == f"halcyon: runs: no run.json here; runs below it: {named}\n[exit 2]"


def test_analyze_of_several_names_the_verb_that_compares(tmp_path: Path) -> None:
    said = halcyon(tmp_path, "analyze", "a run", "b.darshan", "c")
    assert said.startswith("halcyon: b.darshan: one run at a time")
    assert said.endswith("halcyon report 'a run' b.darshan c\n[exit 2]")


def test_files_that_compress_to_less_and_to_more_than_their_data(hand_run: Path) -> None:
    entry = open_comparison([hand_run]).entries[0]

    def shown(stored: int | None) -> str:
        own = replace(entry, numbers=replace(entry.numbers, stored_bytes=stored, raw_bytes=131_000))
        rows = {row.name: row.values for row in metrics_of(Comparison([own], (), ()))}
        return rows["bytes stored"][0] if "bytes stored" in rows else ABSENT

    assert [shown(131_000), shown(100_000), shown(208_000), shown(None)] == [
        "131 kB", "100 kB of 131 kB", "208 kB for 131 kB of data", ABSENT,
    ]  # fmt: skip


def test_each_verb_names_the_one_that_reads_runs_of_another_kind(tmp_path: Path, hand_run: Path) -> None:
    log = tmp_path / "run.darshan"
    log.write_bytes((Path(__file__).parents[3] / "data" / "darshan" / "ior-hdf5.darshan").read_bytes())
    recording = tmp_path / "recording"
    recording.mkdir()
    (recording / "recording.json").write_text("{}")
    for name in (log.name, recording.name):
        said = halcyon(tmp_path, "summary", name)
        assert f"`halcyon analyze {name}` prints what it shows" in said
        assert said.endswith("[exit 2]")
    own = halcyon(tmp_path, "analyze", str(hand_run))
    assert f"`halcyon summary {hand_run}` prints what happened in it" in own
    assert own.endswith("[exit 2]")
    for verb in ("advise", "predict"):
        verbs = f"`halcyon summary {hand_run}` and `halcyon report {hand_run}`"
        said = halcyon(tmp_path, verb, str(hand_run))
        assert said.endswith(f": not recognized: it is the output of a run, which {verbs} read\n[exit 1]")


def test_malformed_run_is_a_failure_with_file_and_line(hand_run: Path) -> None:
    with (hand_run / "phases-n0000.csv").open("a") as file:
        file.write("3,0,soon,1,0,1,1\n")
    assert (
        halcyon(hand_run.parent, "summary", "hand")
        == "halcyon: hand/phases-n0000.csv:8: begin_ns: expected a whole number of at least 0, found 'soon'\n[exit 1]"
    )


def test_report_writes_the_page_and_says_where(hand_run: Path) -> None:
    shown = halcyon(hand_run.parent, "report", "hand", "-o", "page.html")
    page = hand_run.parent / "page.html"
    assert shown == f"page.html ({page.stat().st_size / 1e3:.0f} kB)"
    assert sorted(path.name for path in hand_run.parent.iterdir()) == ["hand", "page.html"]


def test_report_into_a_directory_that_is_not_there(hand_run: Path) -> None:
    shown = halcyon(hand_run.parent, "report", "hand", "-o", "no/page.html")
    assert shown == "halcyon: no/page.html: No such file or directory\n[exit 1]"


class Core:
    """Stands for the compiled module, which these tests do not need to have built."""

    def rebuild_view(self, directory: str, store_type: str) -> SimpleNamespace:
        assert store_type == "hdf5"
        remarks = {"out": [], "short": ["variable 'theta' is too wide"]}[directory]
        return SimpleNamespace(iterations=12 if directory == "out" else 1, remarks=remarks)

    def check(self, config: str, ranks: int, ranks_per_node: int, parameters: dict[str, float]) -> SimpleNamespace:
        if config == "bad.yaml":
            raise errors.ConfigError("bad.yaml:14: data.variables.theta.layout: no layout 'grid3d'")
        return SimpleNamespace(summary="cloud: 3 variables", refusals=[], warnings=[], verdict="OK: 3 variables")


def test_view_tells_how_many_iterations_it_shows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiled, "core", Core)
    assert [main(["view", "out"]), main(["view", "short"])] == [0, 0]
    said = capsys.readouterr()
    assert said.out == "12 iterations in the view\n1 iteration in the view\n"
    assert said.err == "halcyon: warning: variable 'theta' is too wide\n"


def test_check_passes_on_what_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(compiled, "core", Core)
    assert [main(["check", "good.yaml"]), main(["check", "bad.yaml"])] == [0, 1]
    shown = capsys.readouterr()
    assert shown.out == "cloud: 3 variables\nOK: 3 variables\n"
    assert shown.err == "halcyon: bad.yaml:14: data.variables.theta.layout: no layout 'grid3d'\n"


def test_diff_exits_with_1_when_there_are_differences(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_theta = Difference("theta: 3 of 8 values", "4.0", "4.5", "theta", DifferenceSize(0.5, 0.125))
    found = {"same": [], "other": [of_theta, Difference("theta: attribute unit", "K", "C")]}
    monkeypatch.setattr("halcyon.offload.diff.diff", lambda a, b, iterations: found[b.name])
    assert [main(["diff", "a", "same"]), main(["diff", "a", "other"])] == [0, 1]
    assert capsys.readouterr().out.splitlines() == [
        "theta: 3 of 8 values: 4.0 | 4.5",
        "theta: attribute unit: K | C",
        "theta: largest difference 0.5, relative 0.125",
    ]


@pytest.mark.parametrize(
    ("failure", "code", "builtin"),
    [
        (errors.ConfigError("x"), 1, ValueError),
        (errors.UsageError("x"), 2, ValueError),
        (errors.HalcyonSystemError("x", 28, "/full"), 1, OSError),
        (errors.UnavailableError("x"), 1, ConnectionError),
        (errors.InternalError("x"), 1, RuntimeError),
    ],
)
def test_each_kind_of_error_is_a_built_in_one_and_has_its_exit_code(
    failure: errors.HalcyonError,
    code: int,
    builtin: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails() -> Core:
        raise failure

    assert isinstance(failure, builtin)
    monkeypatch.setattr(compiled, "core", fails)
    assert main(["check", "c.yaml"]) == code
    assert capsys.readouterr().err.startswith("halcyon: x\n")
