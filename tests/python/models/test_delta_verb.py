"""Transcripts of `halcyon model delta`, against a case computed by hand."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from model_command import model

from halcyon.models.interference import Phase, delta_graph

CASE = ("delta", "--a", "8s", "--b", "2 s", "--a-cores", "2", "--b-cores", "1", "--points", "3")


def test_a_case_by_hand() -> None:
    """Delays: from 2 s + 0.2 × 8 s before A to 8 s + 1.6 s after it, the middle of both, and 0.

    At 0, A has 2/3 of the bandwidth and B 1/3: B needs 6 s, in which A does 4 of its 8 s; then 4 s alone: 10 s, and
    2 × 10 + 6 = 26 core seconds. In order, 2 × 8 + 10 = 26. With an interruption, 2 × 10 + 2 = 22.
    At 3 s, A has 5 s left, of which 4 pass in B's 6 s: 3 + 6 + 1 = 10 s. In order, B takes 5 + 2 = 7 s: 23.
    Eq. 6.5: 8 s - 2 s × 2 / 1 = 4 s; for A, 2 s - 8 s × 1 / 2 is below 0.
    """
    assert model(*CASE) == TOLD


TOLD = """A: 8.00 s alone, 2 cores, takes 100 % of the bandwidth alone, weight 2
B: 2.00 s alone, 1 core, takes 100 % of the bandwidth alone, weight 1

Time in I/O in s
in brackets the interference factor: the time over the time alone
B starts   A, interfere   B, interfere       A, fcfs       B, fcfs   A, interrupt   B, interrupt
────────────────────────────────────────────────────────────────────────────────────────────────
 -3.60 s    8.00 (1.00)    2.00 (1.00)   8.00 (1.00)   2.00 (1.00)    8.00 (1.00)    2.00 (1.00)
     0 s    10.0 (1.25)    6.00 (3.00)   8.00 (1.00)   10.0 (5.00)    10.0 (1.25)    2.00 (1.00)
 +3.00 s    10.0 (1.25)    6.00 (3.00)   8.00 (1.00)   7.00 (3.50)    10.0 (1.25)    2.00 (1.00)
 +9.60 s    8.00 (1.00)    2.00 (1.00)   8.00 (1.00)   2.00 (1.00)    8.00 (1.00)    2.00 (1.00)

Core seconds
of both in I/O (eq. 6.4); the policies with the fewest, and with the least sum of interference factors
B starts   interfere   fcfs   interrupt   fewest core s   least factors
───────────────────────────────────────────────────────────────────────
 -3.60 s        18.0   18.0        18.0               –               –
     0 s        26.0   26.0        22.0       interrupt       interrupt
 +3.00 s        26.0   23.0        22.0       interrupt       interrupt
 +9.60 s        18.0   18.0        18.0               –               –

to wait or to interrupt, by the fewer core seconds (eq. 6.5):
  B, after A, interrupts A where it starts less than 4.00 s after A (50 % of A's time alone), else waits
  A, after B, waits whenever it starts"""


def test_a_phase_four_times_as_long_is_interrupted_in_its_first_three_quarters() -> None:
    """The scenario of figure 6.13: equal cores, T_A = 4 T_B; interrupted before 8 s - 2 s."""
    told = model("delta", "--a", "8s", "--b", "2s", "--a-cores", "2048", "--b-cores", "2048")
    assert "B, after A, interrupts A where it starts less than 6.00 s after A (75 % of A's time alone)" in told


def test_the_best_policies_change_with_the_measure() -> None:
    """Two equal phases at once: in order or interrupted, one takes 2 s and one 1 s; shared, both take 2 s. Where A has
    10 cores, B waits for fewer core seconds: 10 × 1 + 2 = 12, not 21; the sum of factors is 3 both ways."""
    best = delta_graph(Phase(1), Phase(1), [0.0]).best[0]
    assert (best.core_seconds, best.factors) == (["fcfs", "interrupt"], ["fcfs", "interrupt"])
    best = delta_graph(Phase(1, cores=10), Phase(1), [0.0]).best[0]
    assert (best.core_seconds, best.factors) == (["fcfs"], ["fcfs", "interrupt"])


def test_small_demands_do_not_interfere() -> None:
    """60 % and 40 % of the bandwidth fit."""
    told = json.loads(model("delta", "--a", "2s", "--a-demand", "0.6", "--b", "1s", "--b-demand", "0.4", "--json"))
    assert {(one["a_s"], one["b_s"]) for one in told["curves"]["interfere"]} == {(2.0, 1.0)}
    assert told["best"][len(told["best"]) // 2]["core_seconds"] == ["interfere"]


@pytest.mark.parametrize(
    ("options", "b_s"),
    [
        # At once, B has 1/3, 2/3, and with equal weights 1/2 of the bandwidth for its 2 s.
        ("--a-cores 2 --b-cores 1", 6.0),
        ("--a-cores 1 --b-cores 2", 3.0),
        ("--a-cores 2 --b-cores 1 --a-weight 1 --b-weight 1", 4.0),
        ("--a-cores 2 --b-cores 2 --b-weight 1", 6.0),
    ],
)
def test_weights_follow_cores_unless_given(options: str, b_s: float) -> None:
    curve = json.loads(model("delta", "--a", "8s", "--b", "2s", *options.split(), "--json"))["curves"]["interfere"]
    assert next(one["b_s"] for one in curve if one["delta_s"] == 0) == pytest.approx(b_s)


def test_the_picture_shows_a_panel_per_policy_and_their_costs(tmp_path: Path) -> None:
    model(*CASE, "-o", "d.svg", directory=tmp_path)
    said = [each.text or "" for each in ElementTree.parse(tmp_path / "d.svg").iter("{http://www.w3.org/2000/svg}text")]
    for expected in (
        "Expected Δ-graph: A 8.00 s alone on 2 cores; B 2.00 s alone on 1 core", "A", "B",
        "interfere: both share the bandwidth", "fcfs: the second waits for the first",
        "interrupt: the first stops for the second", "time in I/O (s)", "core seconds in I/O",
        "B interrupts A up to here (4.00 s)",
    ):  # fmt: skip
        assert expected in said
    assert not [text for text in said if "A interrupts" in text]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "--a=-8s --b 2s",
            "argument --a: '-8s' is no duration; expected a number of 0 or more with one of: us, µs, ms",
        ),
        ("--a 8 --b 2parsec", "argument --b: '2parsec' is no duration"),
        ("--a 0s --b 2s", "argument --a: '0s'; expected a duration above 0"),
        ("--a 8s --b 2s --a-demand 0", "argument --a-demand: '0' is no share above 0 up to 1"),
        ("--a 8s --b 2s --b-demand 1.1", "argument --b-demand: '1.1' is no share above 0 up to 1"),
        ("--a 8s --b 2s --a-weight 0", "argument --a-weight: '0' is no number above 0"),
        ("--a 8s --b 2s --a-cores 0", "argument --a-cores: '0' is no whole number from 1 to 2^40"),
        ("--a 8s --b 2s --points 1", "halcyon: --points 1; expected 2 to 1000"),
        ("--a 8s --b 2s -o d.gif", "halcyon: -o d.gif: expected a name that ends in .svg or .png"),
        ("--a 8s --b 2s -o no/d.png", "halcyon: -o no/d.png: no is no directory; create it, or name another one"),
        ("--a 8s", "the following arguments are required: --b"),
    ],
)
def test_input_without_sense_is_refused(tmp_path: Path, arguments: str, message: str) -> None:
    told = model("delta", *arguments.split(), directory=tmp_path)
    assert message in told
    assert told.endswith("[exit 2]")
    assert "Traceback" not in told
