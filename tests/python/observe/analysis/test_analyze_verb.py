"""`halcyon analyze`: what it prints for people and for machines."""

import io
import json
import re
from pathlib import Path

import pytest
from observe.analysis import scenarios
from observe.synthetic import MIB, Trace
from rich.console import Console

from halcyon.cli import main
from halcyon.observe.dataset import Dataset
from halcyon.observe.printed.run import print_run
from halcyon.observe.report_tables import report_tables


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "150")


def test_it_opens_with_what_was_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = scenarios.healthy(ranks=4, phases=2)
    trace.absences = [
        {"process": None, "what": "not-seen", "subject": "io_uring", "count": None, "detail": "by its ring"},
        {"process": 3, "what": "partial", "subject": "DXT", "count": None, "detail": None},
        {"process": 1, "what": "lost", "subject": "full disk", "count": 7, "detail": None},
        {"process": 2, "what": "lost", "subject": "full disk", "count": 5, "detail": None},
    ]
    assert main(["analyze", str(trace.store(tmp_path / "run", command="./model -n 4"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "./model -n 4"
    assert lines[2] == "lost: full disk (12), in 2 processes"
    assert lines[3] == "cut short by its source: DXT, in 1 process"
    assert lines[4] == "could not be seen: io_uring: by its ring"


@pytest.mark.parametrize(
    ("status", "by", "said"),
    [
        (3, None, "the command ended with exit status 3"),
        (137, 9, "the command ended with exit status 137, which stands for SIGKILL"),
        (132, None, "the command ended with exit status 132"),  # of a launcher: which means what it likes
    ],
)
def test_it_opens_with_how_the_command_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], status: int, by: int | None, said: str
) -> None:
    run = scenarios.healthy(ranks=2, phases=2).store(
        tmp_path / "run", command="./model", exit_status=status, exit_signal=by
    )
    assert main(["analyze", str(run)]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [said, "./model"]
    assert main(["analyze", "--json", str(run)]) == 0
    assert json.loads(capsys.readouterr().out)["info"]["exit_status"] == status


def test_processes_without_mpi_are_not_called_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = Trace(3, mpi=False)
    for process in range(3):
        trace.write(process, trace.file(f"/scratch/{process}"), 0, 1 << 20, process, 5 + process)
    assert main(["analyze", str(trace.store(tmp_path / "run"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not [line for line in lines if line.startswith(("phase ", "file ")) and "ranks" in line]
    assert [line for line in lines if line.startswith("phase ") and "processes" in line]
    assert "Variability: nothing to compare in one phase of processes without MPI" in lines


def test_one_direction_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = Trace(1)
    for number in range(2):
        trace.write(0, trace.file(f"/scratch/{number}"), 0, 1 << 20, number * 10, 5)
    trace.read(0, 1, 0, 1 << 20, 30, 5)
    assert main(["analyze", str(trace.store(tmp_path / "run"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = lines[lines.index("Bandwidth") : lines.index("Where the time went, in sum over processes")]
    rows = [line.split()[:2] for line in table if line.startswith(("0 ", "1 "))]
    assert rows == [["1", "write"], ["1", "read"], ["1", "all"], ["0", "write"]]


def test_files_are_named_from_their_common_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    trace = Trace(1)
    for number, name in enumerate(("/scratch/ada/one/quite-long.h5", "/scratch/ada/two/another-one/and-more/x")):
        trace.write(0, trace.file(name), 0, 1 << 20, number * 10, 5)
    assert main(["analyze", str(trace.store(tmp_path / "run"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("Files")
    assert lines[at + 1].startswith("in /scratch/ada")
    assert [line.split()[0] for line in lines[at + 4 : at + 7]] == [
        "one/quite-long.h5",
        "two/another-one/",
        "and-more/x",
    ]


def test_a_folded_title_stays_beside_its_severity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["analyze", str(scenarios.sieving().store(tmp_path / "run"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("high   Data sieving"))
    assert lines[at + 1].startswith(" " * 7)
    assert "of the I/O time)" in lines[at + 1]


def test_a_healthy_run_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(scenarios.healthy().store(tmp_path / "run"))]) == 0
    out = capsys.readouterr().out
    assert "nothing was lost, cut short or left unseen" in out
    assert "No findings." in out


def test_findings_come_with_cost_and_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(scenarios.sieving().store(tmp_path / "run"))]) == 0
    out = capsys.readouterr().out
    assert "high   Data sieving reads what nobody has written yet (about 1.80 s, 45 % of the I/O time)" in out
    assert "romio_ds_write=disable" in out
    row = next(line for line in out.splitlines() if line.startswith("MPI_File_write_at ") and "%" in line)
    # communicate, lock, read, write, unlock, other
    assert row.split()[1:] == ["40", "4.00", "s", "25", "%", "10", "%", "30", "%", "30", "%", "5", "%", "0", "%"]


def test_lost_calls_that_nobody_wrote_down_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa

    from halcyon.observe.dataset import DatasetWriter
    from halcyon.observe.schema import RunInfo

    with DatasetWriter(tmp_path / "run", RunInfo("test 1", None, None, None)) as writer:
        writer.write("processes", pa.table({"process": [0, 1], "lost": [3, 0]}))
    assert main(["analyze", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "lost: calls (3), in 1 process: made and not recorded" in out
    assert "The source holds neither calls nor counters" in out


def test_json_holds_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "--json", str(scenarios.sieving().store(tmp_path / "run"))]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == 1
    assert found["findings"][0]["key"] == "data-sieving-new-data"
    assert found["bandwidths"][0]["perceived_mpi"] == pytest.approx(104857600)
    assert found["phases"]["write"][0]["normalised"] == [1.0] * 4
    assert found["functions"][0]["communicate_s"] == pytest.approx(1.0)


def test_several_data_sets_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("shared", "own"):
        trace = scenarios.healthy(ranks=4, phases=2)
        trace.store(tmp_path / f"mode={mode}", user="ada")
    assert main(["analyze", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("2 runs\n")
    assert "Variation of ranks' write times within phases, over mode" in out
    assert "ada" in out
    assert main(["analyze", "--json", str(tmp_path)]) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 2


def test_a_folder_without_data_is_a_wrong_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(tmp_path)]) == 2
    assert "no run here" in capsys.readouterr().err


def test_an_unknown_engine_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Trace(1).store(tmp_path / "run")
    assert main(["analyze", "--engine", "abacus", str(run)]) == 2
    assert "abacus: no such engine" in capsys.readouterr().err


def test_numbers_are_whole_on_a_narrow_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    assert main(["analyze", str(scenarios.sieving().store(tmp_path / "run"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "bounds from MPI-IO; a wider terminal shows: POSIX effective, perceived, its bounds" in lines
    row = next(line for line in lines if line.startswith("whole run") and "write" in line)
    assert row.split()[3:] == ["105", "MB", "105", "MB/s", "26.2", "MB/s"]


@pytest.mark.parametrize("columns", ["200", "80"])
def test_bytes_over_time_stand_where_they_were_moved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    trace = Trace(1)
    file = trace.file("/scratch/file")
    trace.write(0, file, 0, MIB, 0, 10)
    trace.write(0, file, MIB, MIB, 5_000, 10)
    trace.add(0, "posix", "close", "close", 9_990, 10, file=file)
    assert main(["analyze", str(trace.store(tmp_path / "run"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("Bytes over time")
    axis = lines[at + 1]
    begin, end = axis.index("0 s ─"), len(axis)
    assert axis.endswith("─ 10.0 s")
    (line,) = [line[begin:end] for line in lines[at:] if line.startswith("write")]
    assert [place / len(line) for place, bar in enumerate(line) if bar != "·"] == [0, pytest.approx(0.5, abs=0.03)]


def test_no_number_is_cut_at_any_width(tmp_path: Path) -> None:
    with Dataset.open(scenarios.sieving().store(tmp_path / "run")) as dataset:
        tables = report_tables(dataset)

    def numbers(width: int) -> set[str]:
        out = io.StringIO()
        print_run(tables, Console(file=out, width=width, highlight=False))
        return {found.strip(".,") for found in re.findall(r"\d[\d.,]*", out.getvalue())}

    wide = numbers(400)
    for width in range(24, 200, 4):
        assert numbers(width) <= wide, width
