"""Where the servers of a job run: what of a launcher's command line is passed on to theirs."""

from pathlib import Path

import pytest

from halcyon.errors import UsageError
from halcyon.mpi_launcher import MPICH, OPEN_MPI, launcher_of, program_of

SERVER = Path("/opt/server")


@pytest.fixture
def launchers(tmp_path: Path) -> dict[str, str]:
    """Programs that say of themselves what the real ones do."""
    said = {OPEN_MPI: "mpirun (Open MPI) 4.1.4", MPICH: "HYDRA build details:\n    Version: 4.0.2", "": "mpirun 1.0"}
    made = {}
    for number, (family, text) in enumerate(said.items()):
        program = tmp_path / f"mpirun.{number}"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
        program.chmod(0o755)
        made[family] = str(program)
    return made


def servers(command: list[str]) -> str:
    """The command of the servers, without the launcher's own name."""
    return " ".join(launcher_of(command).one_process_per_node(SERVER, ["HALCYON_SESSION"])[1:])


def test_open_mpi_starts_one_server_per_node_on_the_hosts_of_the_job(launchers: dict[str, str]) -> None:
    words = "-n 64 --hostfile nodes --mca btl tcp,self --bind-to core -x OMP_NUM_THREADS --report-bindings ./a --host b"
    assert servers([launchers[OPEN_MPI], *words.split()]) == (
        "--hostfile nodes --mca btl tcp,self -x OMP_NUM_THREADS -x HALCYON_SESSION "
        "--map-by ppr:1:node --bind-to none /opt/server"
    )


def test_an_option_of_the_simulation_is_none_of_the_launcher(launchers: dict[str, str]) -> None:
    assert "-f" not in servers([launchers[MPICH], "-n", "4", "./simulation", "-f", "input.nml"])


def test_mpich_starts_as_many_servers_as_there_are_hosts(launchers: dict[str, str], tmp_path: Path) -> None:
    command = [launchers[MPICH], "-hosts", "a:2,b:2,a", "-n", "4", "./a"]
    assert servers(command) == "-hosts a:2,b:2,a -ppn 1 -n 2 /opt/server"
    nodes = tmp_path / "nodes"
    nodes.write_text("# all\na:4\nb:4 binding=user:0\n\nc\n")
    assert servers([launchers[MPICH], "-f", str(nodes), "./a"]).endswith(" -ppn 1 -n 3 /opt/server")
    assert servers([launchers[MPICH], "./a"]) == "-ppn 1 -n 1 /opt/server"


def test_mpich_asks_the_batch_system_for_the_number_of_nodes(
    launchers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "5")
    assert servers([launchers[MPICH], "./a"]) == "-ppn 1 -n 5 /opt/server"
    nodes = tmp_path / "nodes"
    nodes.write_text("a\na\nb\nb\n")
    monkeypatch.setenv("PBS_NODEFILE", str(nodes))
    assert servers([launchers[MPICH], "./a"]) == "-ppn 1 -n 2 /opt/server"


def test_options_may_hold_their_value_after_an_equals_sign(launchers: dict[str, str]) -> None:
    assert servers([launchers[OPEN_MPI], "--np=4", "--host=a,b", "./a"]).startswith("--host=a,b -x")


def test_the_simulation_is_told_the_session_on_other_nodes(launchers: dict[str, str]) -> None:
    command = [launchers[OPEN_MPI], "-n", "2", "./a"]
    passed_on = launcher_of(command).passing_on(command, ["HALCYON_SESSION"])
    assert passed_on[1:] == ["-x", "HALCYON_SESSION", "-n", "2", "./a"]
    command = [launchers[MPICH], "-n", "2", "./a"]
    assert launcher_of(command).passing_on(command, ["HALCYON_SESSION"]) == command


def test_a_launcher_of_an_unknown_family_is_refused(launchers: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="neither Open MPI nor MPICH"):
        launcher_of([launchers[""], "./a"])
    with pytest.raises(UsageError, match="has to begin with mpirun"):
        launcher_of(["srun", "./a"])


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("cp a b", "cp"),
        ("mpirun -n 2 cp a b", "cp"),
        ("mpiexec.hydra -genv NAME value -ppn=1 /bin/cp a b", "/bin/cp"),
        ("mpirun --mca io romio321 -- cp a b", "cp"),
        ("mpirun --not-known 7 cp a b", "mpirun"),
        ("mpirun --version", "mpirun"),
    ],
)
def test_a_recording_is_called_after_the_simulation(command: str, program: str) -> None:
    assert program_of(command.split()) == program
