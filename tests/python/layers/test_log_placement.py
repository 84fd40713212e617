"""Whether so many logs still pay."""

from pathlib import Path

import pytest

from halcyon.layers.log_placement import Size, crowding, crowding_in_words, say_if_crowded, size_of


def test_the_thesis_case() -> None:
    """Wright 2014, section 6.3: on the 480 targets of lscratchc, load 3 is reached by 688 ranks, 16 on a node."""
    assert crowding(Size(688, 16), 480).ranks_at_limit == 688
    assert crowding(Size(688, 16), 480).is_too_much
    assert not crowding(Size(672, 16), 480).is_too_much
    far = crowding(Size(4096, 16), 480)
    assert far.load == pytest.approx(8192 / 480, rel=0.01)
    assert far.load_by_nodes == pytest.approx(1.63, abs=0.01)


def test_words_say_where_logs_pay_and_the_way_out() -> None:
    assert crowding_in_words(crowding(Size(1024, 16), 480)) == (
        "1,024 processes that write one file make 1,024 logs on 480 storage targets: load 4.33. Up to load 3.00, with "
        "fewer than 688 processes, logs pay; --logs-per node writes 64 logs of each file instead, with load 1.14"
    )
    assert crowding_in_words(crowding(Size(1024), 480)).endswith("logs of nodes put less on them: --logs-per node")


@pytest.mark.parametrize(
    ("command", "size"),
    [
        ("mpirun -n 64 ./app", Size(64)),
        ("mpirun -np 64 --map-by ppr:16:node ./app -n 7", Size(64, 16)),
        ("mpiexec -n 64 -ppn 8 ./app", Size(64, 8)),
        ("mpirun -N 8 -np 32 ./app", Size(32, 8)),
        ("mpirun ./app", None),
        ("./app -n 64", None),
    ],
)
def test_the_launcher_says_how_many(command: str, size: Size | None) -> None:
    assert size_of(command.split(), {}) == size


def test_the_batch_system_says_how_many() -> None:
    assert size_of(["./app"], {"SLURM_NTASKS": "64", "SLURM_NNODES": "3"}) == Size(64, 22)
    assert size_of(["mpirun", "./app"], {"SLURM_NTASKS": "64", "SLURM_NTASKS_PER_NODE": "16"}) == Size(64, 16)
    assert size_of(["./app"], {"SLURM_NTASKS": "many"}) is None


def test_a_line_is_said_only_where_logs_pay_no_more(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ["mpirun", "-n", "12", "./app"]
    say_if_crowded([str(tmp_path)], command, 480)
    say_if_crowded([str(tmp_path)], ["./app"], 4)
    say_if_crowded([str(tmp_path)], command)  # this file system has no targets
    assert capfd.readouterr().err == ""
    say_if_crowded([str(tmp_path)], command, 4)
    said = capfd.readouterr().err
    assert said.startswith(
        f"halcyon: --log {tmp_path}: 12 processes that write one file make 12 logs on 4 storage targets"
    )
    say_if_crowded([str(tmp_path)], command, 4, 20)
    assert capfd.readouterr().err == ""
