"""Transcripts of `halcyon model dedicate`, against cases computed by hand."""

import json

import pytest
from model_command import model

CASE = ("dedicate", "--cores", "5", "--compute", "80s", "--write", "25s")
POWER = ("--nodes", "4", "--dedicated-nodes", "1", "--max-watts", "300", "--idle-watts", "100", "--iterations", "36")


def test_a_dedicated_core_that_pays() -> None:
    """4 instead of 5 cores compute 80 s × 5 / 4 = 100 s, less than 80 s + 25 s by 5 / 105 = 4.8 %. Output takes
    25 / 80 = 31.25 % of the computation, 25 / 105 = 23.8 % of the whole; the limits are 1 / 4 and 1 / 5."""
    assert model(*CASE, "--dedicated-write", "60s") == PAYS


PAYS = """
An iteration on nodes of 5 cores
                                      computation   output   iteration
──────────────────────────────────────────────────────────────────────
all cores compute, then write              80.0 s   25.0 s       105 s
one core writes, the others compute         100 s   60.0 s       100 s

a dedicated core pays: an iteration takes 4.8 % less time
output by all cores takes 31.2 % of the time of computation, 23.8 % of an iteration
a dedicated core whose output stays hidden pays above 25.0 % of computation, 20.0 % of an iteration"""


def test_limits_of_the_thesis() -> None:
    """Section 3.5.1: 24 cores, 1 / 23 = 4.35 %, which is a share of the computation; of the time it is 1 / 24."""
    told = model("dedicate", "--cores", "24", "--compute", "200s", "--write", "20s", "--dedicated-write", "60s")
    assert told.endswith(
        "a dedicated core whose output stays hidden pays above 4.35 % of computation, 4.17 % of an iteration"
    )


@pytest.mark.parametrize(
    ("write", "dedicated_write", "said"),
    [
        ("15s", "60s", "a dedicated core does not pay: an iteration takes 5.3 % more time"),  # 100 s after 95 s
        ("20s", "60s", "a dedicated core does not pay: an iteration takes as long"),
        ("25s", "2 min", "a dedicated core does not pay: an iteration takes 14 % more time"),  # 120 s after 105 s
        ("25s", "2 min", "output by one core takes longer than computation by the others: they wait for it"),
    ],
)
def test_a_dedicated_core_that_does_not_pay(write: str, dedicated_write: str, said: str) -> None:
    told = model(*CASE[:-1], write, "--dedicated-write", dedicated_write)
    assert said in told.splitlines()


def test_power_and_energy_by_hand() -> None:
    """36 iterations of 100 s with dedicated cores; with 3 of 4 nodes, 80 s × 4 / 3 each: 3,840 s. A dedicated node
    takes (300 + 100) / 2 W: a mean of (3 × 300 + 200) / 4 = 275 W. Energy: 1.2 kW × 3600 s = 1.2 kWh; 1.1 kW × 3840 s =
    1.173 kWh. Time: 3840 / 3600 = 1.067. Energy: 1.173 / 1.2 = 0.978."""
    assert model(*CASE, *POWER).endswith(ENERGY)


ENERGY = """
36 iterations on 4 nodes, output hidden
nodes and cores that compute; mean power per node, and of all nodes
                  nodes   cores   run time   per node     power     energy
──────────────────────────────────────────────────────────────────────────
dedicated cores       4       4    3,600 s      300 W   1.20 kW   1.20 kWh
dedicated nodes       3       5    3,840 s      275 W   1.10 kW   1.17 kWh

dedicated nodes instead of dedicated cores: 6.7 % more time, 2.2 % less energy"""


@pytest.mark.parametrize(
    ("efficiency", "cores_s", "nodes_s"),
    [
        # One core takes 80 s × 5 × 0.8 × 4 = 1280 s: 1280 / (4 × 1 × 4) and 1280 / (5 × 0.8 × 3).
        (("--core-efficiency", "0.8,1"), 80, 320 / 3),
        # 80 s × 5 × 4 × 0.75 = 1200 s: 1200 / (4 × 4 × 0.75) and 1200 / (5 × 3 × 1).
        (("--node-efficiency", "0.75,1"), 100, 80),
    ],
)
def test_resources_that_scale_badly_favour_their_dedication(
    efficiency: tuple[str, str], cores_s: float, nodes_s: float
) -> None:
    costs = json.loads(model(*CASE, *POWER[:-2], *efficiency, "--json"))["costs"]
    assert costs["dedicated_cores"]["run_time_s"] == pytest.approx(cores_s)
    assert costs["dedicated_nodes"]["run_time_s"] == pytest.approx(nodes_s)
    assert costs["dedicated_nodes"]["energy_j"] == pytest.approx(nodes_s * 1100)


def test_a_run_whose_output_is_not_hidden_is_marked() -> None:
    assert "output by dedicated cores is not hidden" in model(*CASE, "--dedicated-write", "101s", *POWER)
    assert "is not hidden" not in model(*CASE, "--dedicated-write", "100s", *POWER)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--cores 1 --compute 8s --write 1s", "halcyon: --cores 1; expected 2 or more"),
        ("--cores 4 --compute=-8s --write 1s", "argument --compute: '-8s' is no duration"),
        ("--cores 4 --compute 0s --write 0s", "halcyon: computation and output take 0 s; expected one of them above 0"),
        ("--cores 4 --compute 8s --write 1s --nodes 4",
         "halcyon: --nodes goes with --dedicated-nodes, --max-watts, --idle-watts"),
        ("--cores 4 --compute 8s --write 1s --iterations 4",
         "halcyon: --iterations goes with --nodes, --dedicated-nodes, --max-watts, --idle-watts"),
        ("--cores 4 --compute 8s --write 1s --nodes 4 --dedicated-nodes 4 --max-watts 200 --idle-watts 100",
         "halcyon: --dedicated-nodes 4; expected fewer than --nodes 4"),
        ("--cores 4 --compute 8s --write 1s --nodes 4 --dedicated-nodes 1 --max-watts 100 --idle-watts 200",
         "halcyon: --idle-watts 200; expected at most --max-watts 100"),
        ("--cores 4 --compute 8s --write 1s --core-efficiency 0.8",
         "argument --core-efficiency: '0.8'; expected two shares, such as 0.80,0.81"),
        ("--cores 4 --compute 8s --write 1s --core-efficiency 0.8,0",
         "argument --core-efficiency: '0' is no share above 0 up to 1"),
    ],
)  # fmt: skip
def test_input_without_sense_is_refused(arguments: str, message: str) -> None:
    told = model("dedicate", *arguments.split())
    assert message in told
    assert told.endswith("[exit 2]")
    assert "Traceback" not in told
