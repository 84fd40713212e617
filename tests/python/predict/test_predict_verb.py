"""`halcyon predict`: what it prints for people and for machines, and what it writes."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from predict.known_program import known_program, stored
from recorded_program import recorded
from traces import DATA

from halcyon.cli import main
from halcyon.observe.dataset import DatasetWriter
from halcyon.observe.schema import RunInfo

PICTURES = ("context", "grammar", "size-error", "hit-ratio", "interarrival", "interarrival-difference")


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def said(capsys: pytest.CaptureFixture[str], *words: object) -> list[str]:
    assert main(["predict", *map(str, words)]) == 0
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_it_says_what_was_replayed_and_how_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = known_program(200)
    trace.add(0, "posix", "open", "open", 0.5, 0.1, error=2)
    run = stored(trace, tmp_path / "run", command="./model", source="halcyon 0.1.0")
    lines = said(capsys, run)
    assert lines[:3] == [
        "./model",
        "recorded by halcyon 0.1.0: 800 calls of 1 thread replayed; contexts: functions only",
        "left out: 1 call that failed",
    ]
    at = lines.index("Forecasts of rank 0 from its second iteration on, after 4 calls")
    told = {line[:26].strip(): line[26:].split() for line in lines[at + 3 : at + 12]}
    assert told["offset"][4:6] == ["50.0", "%"]
    assert told["call site"][4] == "–"
    assert told["file"][4:] == ["–"] * 4
    assert "phases                    200, separated by more than 100 ms" in lines
    assert max(map(len, lines)) <= 100


def test_no_line_ends_in_blanks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(stored(known_program(20), tmp_path / "run"))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_few_threads_are_told_one_by_one_and_many_by_the_worst(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(capsys, stored(known_program(3, ranks=3), tmp_path / "few"))
    at = lines.index("Each thread over the whole run")
    assert [line.split()[:3] for line in lines[at + 4 : at + 7]] == [["rank", str(n), "12"] for n in range(3)]
    trace = known_program(3, ranks=20)
    # Rank 7 does what nobody can foresee.
    for number, call in enumerate(call for call in trace.calls if call.process == 7):
        call.call = f"function{number}"
    lines = said(capsys, stored(trace, tmp_path / "many"))
    at = lines.index("20 threads that read or write, over the whole run; the worst by call site is rank 7")
    assert [line.split()[0] for line in lines[at + 4 : at + 6]] == ["median", "worst"]
    assert lines[at + 5].split()[2:4] == ["0.0", "%"]


def test_json_holds_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored(known_program(20, ranks=2), tmp_path / "run")
    assert main(["predict", "--json", "--rank", "1", "--distinct-values", "12", "--pause", "50", str(run)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == 1
    assert found["directory"] == str(run)
    assert found["settings"] == {"memory_bytes": 4 << 20, "distinct_values": 12, "least_pause_ns": 50_000_000}
    assert [one["stream"]["rank"] for one in found["streams"]] == [1]
    assert found["streams"][0]["half"]["by"]["contiguous"]["offset"] == 0.5
    assert found["streams"][0]["half"]["by"]["contiguous"]["context"] is None
    assert found["detail"]["bounds"][0]["given"] == "the last call site"


def test_figures_and_the_scores_of_every_call_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, output = stored(known_program(20, ranks=2), tmp_path / "run"), tmp_path / "new" / "out"
    said(capsys, run, "-o", output)
    assert {path.name for path in output.iterdir()} == {"calls.parquet", *(f"{name}.png" for name in PICTURES)}
    assert all((output / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in PICTURES)
    table = pq.read_table(output / "calls.parquet")
    assert table.num_rows == 160
    assert table["call"].to_pylist() == [*range(1, 81), *range(1, 81)]
    assert table["kind"].to_pylist()[:5] == ["open", "write", "write", "close", "open"]
    assert table["accessed_offset"].to_pylist()[:3] == [None, 0, 300]
    assert table["offset"].to_pylist()[-4:] == [None, 1, 1, None]  # of an open there is nothing to score
    assert table["context"].to_pylist()[-1] == 1
    assert table["gap_observed_ns"].null_count == 2


def test_what_was_learnt_is_kept_for_halcyon_grammar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored(known_program(200), tmp_path / "run", command="./model", source="halcyon 0.1.0")
    said(capsys, run, "--save-model", tmp_path / "models")
    kept = list((tmp_path / "models").iterdir())
    assert [path.suffix for path in kept] == [".model"]
    assert main(["grammar", str(kept[0])]) == 0
    told = capsys.readouterr().out
    assert "800 calls from 3 call sites" in told
    assert "^200" in told


def test_what_each_of_several_ranks_learnt_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored(known_program(20, ranks=3), tmp_path / "run")
    said(capsys, run, "--save-model", tmp_path / "models")
    kept = sorted((tmp_path / "models").iterdir())
    assert [path.suffixes[-2:] for path in kept] == [[f".{rank}", ".model"] for rank in range(3)]


def test_a_recorded_program_is_forecast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = f"for i in $(seq 40); do echo one; echo two >&2; echo three; done > {tmp_path}/a 2> {tmp_path}/b"
    run = recorded(["bash", "-c", script], tmp_path / "run").folder
    assert main(["predict", "--json", str(run)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["source"].startswith("halcyon ")
    assert found["selection"]["level"] == "posix"
    score = found["detail"]["score"]
    assert score["stream"]["transfers"] >= 120
    assert score["half"]["by"]["halcyon"]["context"] > 0.9


@pytest.mark.parametrize(
    "source",
    [DATA / "darshan" / "mpi-io-test-dxt.darshan", DATA / "dftracer" / "threads.pfw", DATA / "recorder" / "mpi"],
)
def test_traces_of_other_tools_are_replayed(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, source)
    assert "contexts: functions only" in lines[1]
    assert any(line.startswith("Forecasts of ") for line in lines)


def test_a_run_without_calls_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with DatasetWriter(tmp_path / "run", RunInfo("test 1", None, None, None)):
        pass
    nothing = "There are no calls to forecast: nothing that opens, closes, reads, writes or syncs a file."
    assert said(capsys, tmp_path / "run", "-o", tmp_path / "out")[-1] == nothing
    assert said(capsys, DATA / "darshan" / "ior-hdf5.darshan")[-1] == nothing
    assert main(["predict", "--json", str(tmp_path / "run")]) == 0
    assert json.loads(capsys.readouterr().out)["detail"] is None


def test_a_run_that_only_computes_has_nothing_to_forecast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = known_program(1)
    trace.calls.clear()
    trace.add(0, "posix", "stat", "stat", 1, 1, file=0)
    assert said(capsys, stored(trace, tmp_path / "run"))[-1].startswith("There are no calls to forecast")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--rank", "7"], "--rank 7: the run has no such rank; it has 0 to 1"),
        (["--process", "9"], "--process 9: the run has no such process; it has 0 to 1"),
        (["--memory", "much"], "--memory: 'much' is no size"),
        (["--memory", "1 kB"], "--memory: 1 kB; expected 64 KiB or more"),
        (["--distinct-values", "65"], "--distinct-values: 65; expected 1 to 64"),
        (["--pause", "-1"], "--pause: -1.0; expected 0 ms or more"),
    ],
)
def test_a_wrong_command_line_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    run = stored(known_program(1, ranks=2), tmp_path / "run")
    assert main(["predict", str(run), *words]) == 2
    assert why in capsys.readouterr().err


def test_damage_is_told_and_leaves_no_half_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored(known_program(5), tmp_path / "run")
    part = next((run / "calls").glob("*.parquet"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0xFF
    part.write_bytes(content)
    assert main(["predict", str(run), "-o", str(tmp_path / "out")]) == 1
    assert f"{part}: checksum" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_nothing_there_is_a_wrong_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(tmp_path / "nothing")]) == 2
    assert "no such file or folder" in capsys.readouterr().err
