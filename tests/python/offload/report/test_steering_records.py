"""What users changed while a run went on is in its summary, its page, and its numbers for machines."""

import json
from pathlib import Path

import pytest

from halcyon.cli import main
from halcyon.errors import ConfigError
from halcyon.offload.run_directory import open_run
from halcyon.offload.steering_records import Steered

HEADER = "request,parameter,value,iteration,asked_ns,user,process,host\n"
LINES = "2,tau,0.5,3,1700000001000000000,1000,77,c1\n1,kappa,0.29999999999999999,1,1700000000000000000,1000,76,c1\n"


def write(run: Path, text: str) -> None:
    (run / "steering-n0000.csv").write_text(HEADER + text)


def test_requests_are_read_in_their_order(hand_run: Path) -> None:
    assert open_run(hand_run).steering == ()
    write(hand_run, LINES)
    run = open_run(hand_run)
    assert run.steering == (
        Steered(1, "kappa", 0.3, 1, 1700000000000000000, 1000, 76, "c1"),
        Steered(2, "tau", 0.5, 3, 1700000001000000000, 1000, 77, "c1"),
    )
    assert run.gaps == ()


def test_a_line_that_was_cut_off_is_left_out_and_said(hand_run: Path) -> None:
    write(hand_run, LINES[:-4])
    run = open_run(hand_run)
    assert [one.parameter for one in run.steering] == ["tau"]
    assert run.gaps == ("steering-n0000.csv: the last line is cut off and left out",)


def test_a_line_that_is_none_is_named(hand_run: Path) -> None:
    write(hand_run, "1,kappa,0.3,one,2,3,4,c1\n")
    with pytest.raises(ConfigError, match=r"steering-n0000\.csv:2: no line of steering: 1,kappa,0\.3,one"):
        open_run(hand_run)
    write(hand_run, "1,kappa\n")
    with pytest.raises(ConfigError, match=r"steering-n0000\.csv:2: no line of steering"):
        open_run(hand_run)


def test_summary_and_report_show_who_steered(hand_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(hand_run, LINES)
    assert main(["summary", str(hand_run)]) == 0
    assert (
        "steered: kappa = 0.3 from iteration 1 on, asked by process 76 of user 1000 on c1 at 2023-11-14 22:13:20 UTC\n"
        "steered: tau = 0.5 from iteration 3 on, asked by process 77 of user 1000 on c1 at 2023-11-14 22:13:21 UTC\n"
    ) in capsys.readouterr().out
    main(["summary", "--json", str(hand_run)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [one["iteration"] for one in run["steering"]] == [1, 3]
    page = hand_run / "page.html"
    main(["report", str(hand_run), "-o", str(page)])
    assert "<td>kappa</td><td>0.3</td><td>1</td><td>76</td><td>1000</td><td>c1</td>" in page.read_text()


def test_many_requests_are_counted(hand_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(hand_run, "".join(f"{n},kappa,0.5,{n},1700000000000000000,0,1,c1\n" for n in range(1, 24)))
    main(["summary", str(hand_run)])
    summary = capsys.readouterr().out
    assert summary.count("steered: kappa") == 20
    assert "steered 3 more times: steering-*.csv" in summary
