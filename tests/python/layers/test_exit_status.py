"""How a recorded command ended is known to whoever reads its recording."""

from pathlib import Path

import pytest

from halcyon.cli import main
from halcyon.layers.record import record
from halcyon.observe.open_run import open_run


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("exit 3", 3, "the command ended with exit status 3"),
        ("kill -KILL $$", 137, "the command ended with exit status 137, which stands for SIGKILL"),
        ("exit 132", 132, "the command ended with exit status 132"),  # as mpirun does that finds no program
    ],
)
def test_a_failed_command_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, status: int, said: str
) -> None:
    code, folder = record(["sh", "-c", f"cat /etc/hostname; {script}"], ["trace"], tmp_path / "run")
    assert code == status
    with open_run(folder) as dataset:
        assert dataset.info.exit_status == status
    for verb in ("analyze", "advise", "predict"):
        assert main([verb, str(folder)]) == 0
        first, second, *_ = capsys.readouterr().out.splitlines()
        assert (first, second.startswith("sh -c cat")) == (said, True), verb
