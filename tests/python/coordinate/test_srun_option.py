"""`srun --halcyon=LIST`: a step runs as under `halcyon run`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cluster import Cluster

from halcyon.observe.dataset import Dataset
from halcyon.observe.pack import pack
from halcyon.observe.recording.folder import Recording

WRITER = """
#include <mpi.h>
#include <stdio.h>

int main(int count, char** arguments) {
    int rank;
    char name[4096];
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s/rank%d", arguments[1], rank);
    FILE* file = fopen(name, "w");
    fputs("of this rank", file);
    fclose(file);
    return MPI_Finalize();
}
"""

ALL_VARIABLES = "import json, os; print('variables', json.dumps(dict(os.environ)))"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of runs are made in the current one."""
    monkeypatch.chdir(tmp_path)


def test_the_help_of_srun_shows_the_option(cluster: Cluster) -> None:
    said = " ".join(cluster.said("srun", "--help").split())
    assert "--halcyon=LIST" in said
    assert "LIST of trace, predict, prefetch, coordinate" in said
    assert "--halcyon-output=DIR" in said


@pytest.mark.parametrize(("given", "wrong"), [("trac", "trac"), ("trace,,predict", ""), ("trace,all", "all")])
def test_a_layer_that_is_none_is_refused_before_anything_runs(
    cluster: Cluster, tmp_path: Path, given: str, wrong: str
) -> None:
    status, said = cluster.run("srun", f"--halcyon={given}", "touch", tmp_path / "ran")
    assert status != 0
    assert f"--halcyon: no layer '{wrong}'; known layers: trace, predict, prefetch, coordinate" in said
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("mpi", "interface"), [("mpich", "pmi2"), ("openmpi", "pmix")])
def test_a_program_of_two_tasks_on_two_nodes_is_recorded(
    cluster: Cluster, tmp_path: Path, mpi: str, interface: str
) -> None:
    program = tmp_path / "writer"
    subprocess.run([f"mpicc.{mpi}", "-x", "c", "-o", program, "-"], input=WRITER, text=True, check=True)
    said = cluster.said("srun", "-N2", "-n2", f"--mpi={interface}", "--halcyon=trace", program, tmp_path)
    assert "halcyon: 2 processes recorded; now: halcyon report" in said
    folder = tmp_path / "writer.halcyon"
    recording = Recording.read(folder)
    assert recording.command == [str(program), str(tmp_path)]
    assert recording.exit_code == 0
    assert recording.job is not None
    pack(folder, tmp_path / "data")
    with Dataset.open(tmp_path / "data") as data:
        assert sorted(data.processes.to_pandas()["rank"]) == [0, 1]
        assert sorted(data.processes.to_pandas()["host"]) == ["c1", "c2"]


def test_tasks_have_the_variables_of_halcyon_run(coordinated: Cluster, tmp_path: Path) -> None:
    layers = {"predict": ["--predict"], "trace,coordinate": ["--trace", "--coordinate"]}
    for given, options in layers.items():
        words = [sys.executable, "-c", ALL_VARIABLES]
        run = [sys.executable, "-m", "halcyon", "run", *options, "-o", tmp_path / f"run.{given}", "--"]
        of_run = _variables(coordinated.said(*run, *words))
        step = ["srun", f"--halcyon={given}", "--halcyon-output", tmp_path / f"step.{given}"]
        of_step = _variables(coordinated.said(*step, *words))
        assert of_step.keys() == of_run.keys()
        its_own = {"HALCYON_TRACE_DIR", "HALCYON_JOB", "HALCYON_JOB_SECRET"}
        assert {n: v for n, v in of_step.items() if n not in its_own} == {
            n: v for n, v in of_run.items() if n not in its_own
        }
        assert of_step["HALCYON_TRACE_DIR"] == str(tmp_path / f"step.{given}" / "trace")


def test_a_step_keeps_the_name_and_secret_that_the_user_has_set(coordinated: Cluster) -> None:
    job = {"HALCYON_JOB": "of-both", "HALCYON_JOB_SECRET": "known-to-nobody-else"}
    said = coordinated.said("srun", "--halcyon=coordinate", sys.executable, "-c", ALL_VARIABLES, **job)
    assert job.items() <= _variables(said).items()


def test_srun_reads_the_coordinators_that_install_was_given(coordinated: Cluster) -> None:
    step = ["srun", "--halcyon=coordinate", sys.executable, "-c", ALL_VARIABLES]
    said = coordinated.said(*step, HALCYON_COORDINATORS_FILE="")
    line = f"{coordinated.scratch}={coordinated.daemon.address}"
    assert _variables(said)["HALCYON_COORDINATORS"] == line


def _variables(said: str) -> dict[str, str]:
    [line] = [line for line in said.splitlines() if line.startswith("variables ")]
    everything: dict[str, str] = json.loads(line.removeprefix("variables "))
    return {n: v for n, v in everything.items() if n.startswith("HALCYON_") or n in ("LD_PRELOAD", "ASAN_OPTIONS")}


def test_a_task_prolog_does_its_work_and_is_not_recorded(cluster: Cluster, tmp_path: Path) -> None:
    shown = 'echo "task has $FROM_TASK_PROLOG, and ${TO_BE_UNSET-nothing}"; exec dd if=/dev/zero of=out bs=1k count=1'
    step = ["srun", "--halcyon=trace", "--halcyon-output", tmp_path / "run", "dash", "-c", shown]
    said = cluster.said(*step, TO_BE_UNSET="something")
    assert "said by the prolog of task 0" in said
    assert "task has seen, and nothing" in said
    pack(tmp_path / "run", tmp_path / "data")
    with Dataset.open(tmp_path / "data") as data:
        assert {Path(name).name for name in data.processes.to_pandas()["program"]} == {"dash", "dd"}


def test_the_summary_tells_how_the_step_ended(cluster: Cluster, tmp_path: Path) -> None:
    status, said = cluster.run("srun", "-n2", "--halcyon=trace", "sh", "-c", "echo x > of.$SLURM_PROCID; exit 7")
    assert status == 7
    assert "2 processes recorded" in said
    recording = Recording.read(tmp_path / "sh.halcyon")
    assert recording.exit_code == 7
    assert recording.end is not None


def test_a_step_that_left_nothing_leaves_no_folder(cluster: Cluster, tmp_path: Path) -> None:
    status, said = cluster.run("srun", "--halcyon=trace", "/no/such/program")
    assert status != 0
    assert "nothing was recorded" in said
    assert list(tmp_path.iterdir()) == []


def test_a_step_runs_without_layers_where_there_are_none(cluster: Cluster, tmp_path: Path) -> None:
    said = cluster.said("srun", "--halcyon=trace", "echo", "it ran", HALCYON_IO_LIBRARY="/nowhere")
    assert "it ran" in said
    assert "halcyon: no libhalcyon-io.so; looked for /nowhere" in said
    assert "this step runs without --halcyon" in said
    assert list(tmp_path.iterdir()) == []


def test_a_step_without_the_option_is_left_alone(cluster: Cluster, tmp_path: Path) -> None:
    said = cluster.said("srun", "env")
    assert not [line for line in said.splitlines() if line.startswith(("LD_PRELOAD", "HALCYON_LAYERS", "HALCYON_STEP"))]
    assert list(tmp_path.iterdir()) == []
