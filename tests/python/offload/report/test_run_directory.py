"""Reading what runs leave behind, whole, killed or malformed."""

import json
from pathlib import Path

import pytest
from synthetic_runs import PHASES, write_counts, write_csv, write_manifest

from halcyon.errors import ConfigError, HalcyonSystemError, UsageError
from halcyon.offload.run_directory import open_run


def gaps(directory: Path) -> list[str]:
    return list(open_run(directory).gaps)


def test_whole_run_has_no_gaps(hand_run: Path) -> None:
    run = open_run(hand_run)
    assert run.gaps == ()
    assert run.manifest.cores == 3
    assert run.phases.count().to_pyarrow().as_py() == 6
    assert run.files.count().to_pyarrow().as_py() == 3
    assert run.servers == ["n0000"]


def test_run_is_also_named_by_its_run_json(hand_run: Path) -> None:
    assert open_run(hand_run / "run.json").directory == hand_run


def test_cut_off_last_line_is_left_out_and_said(hand_run: Path) -> None:
    file = hand_run / "phases-n0000.csv"
    file.write_bytes(file.read_bytes()[:-3])  # '6000000\n' → '60000': a plausible and wrong number
    run = open_run(hand_run)
    assert run.phases.count().to_pyarrow().as_py() == 5
    assert run.phases.bytes.min().to_pyarrow().as_py() == 6_000_000
    assert "phases-n0000.csv: the last line is cut off and left out" in run.gaps
    assert "iteration 2 was recorded by 1 of 2 ranks" in run.gaps


@pytest.mark.parametrize("content", ["", "iteration,ra"])
def test_file_without_a_whole_line_has_no_rows(hand_run: Path, content: str) -> None:
    (hand_run / "server-n0000.csv").write_text(content)
    run = open_run(hand_run)
    assert run.files.count().to_pyarrow().as_py() == 0
    assert "server-n0000.csv: the last line is cut off and left out" in run.gaps


def test_server_without_counts_never_finished(hand_run: Path) -> None:
    (hand_run / "counts-n0000.json").unlink()
    assert gaps(hand_run) == ["server n0000 has not finished: it left no counts-n0000.json"]


def test_server_killed_midway_never_finished(hand_run: Path) -> None:
    write_counts(hand_run, finished=False, iterations=2)
    assert gaps(hand_run) == ["server n0000 has not finished: its counts stop at iteration 2"]


def test_simulation_that_never_closed_is_said(hand_run: Path) -> None:
    manifest = json.loads((hand_run / "run.json").read_text())
    (hand_run / "run.json").write_text(json.dumps(manifest | {"ended_ns": None}))
    assert gaps(hand_run) == ["the simulation never closed its session: run.json has no ended_ns"]


def test_output_without_halcyon_needs_no_counts(tmp_path: Path) -> None:
    write_manifest(tmp_path, approach="file-per-process", writers=["n0000"])
    assert gaps(tmp_path) == []


def test_repeated_phase_counts_once_and_the_later_line_wins(hand_run: Path) -> None:
    with (hand_run / "phases-n0000.csv").open("a") as file:
        file.write("2,1,1700000003700000000,250000000,0,1000000000,6000000\n")
    run = open_run(hand_run)
    again = run.phases.filter(run.phases.iteration == 2, run.phases["rank"] == 1)
    assert again.visible_ns.to_pyarrow().to_pylist() == [250_000_000]
    assert run.gaps == ("1 line of phases repeated; the last of each counts",)


def test_unknown_columns_and_their_order_do_not_matter(tmp_path: Path) -> None:
    write_manifest(tmp_path, approach="collective", ranks=1)
    header = "colour," + ",".join(reversed(PHASES.split(",")))
    (tmp_path / "phases-n0000.csv").write_text(f"{header}\nblue,7,6,5,4,3,0,2\n")
    assert open_run(tmp_path).phases.to_pyarrow().to_pylist() == [
        {
            "writer": "n0000",
            "iteration": 2,
            "rank": 0,
            "begin_ns": 3,
            "visible_ns": 4,
            "blocked_ns": 5,
            "compute_ns": 6,
            "bytes": 7,
        }
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("0,1,x,1,0,1,1", ":3: begin_ns: expected a whole number of at least 0, found 'x'"),
        ("0,1,5,-1,0,1,1", ":3: visible_ns: expected a whole number of at least 0, found '-1'"),
        ("0,1,5,1.5,0,1,1", ":3: visible_ns: expected a whole number of at least 0, found '1.5'"),
        ("0,1,5,,0,1,1", ":3: visible_ns: expected a whole number of at least 0, found ''"),
        ("0,1,5,99999999999999999999,0,1,1", ":3: visible_ns: expected a whole number of at least 0, found '9999"),
        ("0,1,5", ":3: 3 values; the header names 7 columns"),
    ],
)
def test_malformed_line_is_named_by_file_and_line(tmp_path: Path, line: str, complaint: str) -> None:
    write_manifest(tmp_path)
    file = tmp_path / "phases-n0000.csv"
    file.write_text(f"{PHASES}\n0,0,5,1,0,1,1\n{line}\n")
    with pytest.raises(ConfigError) as raised:
        open_run(tmp_path)
    assert str(raised.value).startswith(f"{file}{complaint}")


def test_missing_column_is_named_with_those_there(tmp_path: Path) -> None:
    write_manifest(tmp_path)
    file = write_csv(tmp_path, "phases-n0000.csv", "iteration,rank", [[0, 0]])
    with pytest.raises(ConfigError) as raised:
        open_run(tmp_path)
    assert str(raised.value) == f"{file}:1: no column 'begin_ns'; columns here: iteration, rank"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"format": 1,\n "ranks": }', ":2: not JSON: Expecting value (column 11)"),
        ("[1]", ": expected a JSON object, found list"),
        ('{"format": 2}', ": format: expected 1, found 2; read it with a newer Halcyon"),
        ('{"format": 1, "approach": "x"}', ": ranks: field required"),
        ('{"format": 1, "approach": "x", "ranks": 0}', ": ranks: input should be greater than or equal to 1, found 0"),
    ],
)
def test_malformed_run_json_says_what_and_where(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "run.json"
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        open_run(tmp_path)
    assert str(raised.value) == f"{file}{complaint}"


def test_directory_without_run_names_the_runs_below_it(hand_run: Path) -> None:
    with pytest.raises(UsageError) as raised:
        open_run(hand_run.parent)
    assert str(raised.value) == f"{hand_run.parent}: no run.json here; runs below it: {hand_run}"


def test_missing_directory_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such directory"):
        open_run(tmp_path / "nowhere")


def test_unreadable_file_is_a_system_error(hand_run: Path) -> None:
    (hand_run / "phases-n0001.csv").mkdir()
    with pytest.raises(HalcyonSystemError) as raised:
        open_run(hand_run)
    assert raised.value.filename == str(hand_run / "phases-n0001.csv")
    assert raised.value.errno


def test_application_file_is_read_when_there(hand_run: Path) -> None:
    assert open_run(hand_run).application == {}
    (hand_run / "app.json").write_text('{"w_max": 31.5}')
    assert open_run(hand_run).application == {"w_max": 31.5}


def test_times_that_the_application_measured_count_and_waits_are_the_servers(tmp_path: Path) -> None:
    write_manifest(tmp_path, ranks=1)
    write_csv(tmp_path, "phases-n0000.csv", PHASES, [[0, 0, 100, 5, 3, 50, 8], [1, 0, 200, 6, 0, 60, 8]])
    write_csv(tmp_path, "phases-app.csv", PHASES, [[0, 0, 90, 17, 0, 40, 8]])
    rows = open_run(tmp_path).phases.order_by("iteration").to_pyarrow().to_pylist()
    told = [(row["iteration"], row["visible_ns"], row["blocked_ns"], row["compute_ns"]) for row in rows]
    assert told == [(0, 17, 3, 40), (1, 6, 0, 60)]
