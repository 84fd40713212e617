"""Many runs of one machine."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from observe.analysis import scenarios
from observe.synthetic import MIB, Trace
from rich.console import Console
from traces import DATA

from halcyon.errors import ConfigError, UsageError
from halcyon.observe.analysis import machine as machine_module
from halcyon.observe.analysis.find_runs import find_runs
from halcyon.observe.analysis.machine import (
    Machine,
    differing,
    read_machine,
    server_totals,
    server_uses,
    totals,
    variability_grid,
)
from halcyon.observe.analysis.run_load import grouped, options_of, parameters_of
from halcyon.observe.analysis.run_workers import workers
from halcyon.observe.analysis.servers import Server
from halcyon.observe.dataset import Dataset
from halcyon.observe.printed.machine import print_machine
from halcyon.observe.writers import writer_of

NOVEMBER = 1_793_491_200.0  # 2026-11-01 00:00 UTC


def run_of(server: str, seconds: float = 10.0) -> Trace:
    """Writes 1 MiB to one server, each second."""
    trace = Trace(1)
    file = trace.file("/scratch/out", stripe_bytes=MIB, servers=[server])
    for second in range(int(seconds)):
        trace.write(0, file, second * MIB, MIB, second * 1000.0, 900)
    return trace


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    run_of("ost0").store(tmp_path / "a", start=NOVEMBER, user="ada")
    run_of("ost0").store(tmp_path / "b", start=NOVEMBER + 5, user="bob")
    run_of("ost1").store(tmp_path / "deep" / "c", start=NOVEMBER + 40 * 86400, user="ada")
    run_of("ost0").store(tmp_path / "d", start=None)
    broken = tmp_path / "broken"
    (broken / "calls").mkdir(parents=True)
    (broken / "run.json").write_text("{")
    return read_machine(tmp_path)


def test_runs_come_by_their_start_and_broken_ones_are_named(machine: Machine) -> None:
    assert [run.name for run in machine.runs] == ["a", "b", "deep/c", "d"]
    assert [one.name for one in machine.unread] == ["broken"]
    assert machine.runs[0].program == "model"
    assert machine.runs[0].bytes_written == 10 * MIB


def test_totals_per_user_and_month(machine: Machine) -> None:
    users = totals(machine.runs, lambda run: run.user)
    assert [(one.name, one.runs, one.bytes_written) for one in users] == [
        ("ada", 2, 20 * MIB),
        ("?", 1, 10 * MIB),
        ("bob", 1, 10 * MIB),
    ]
    months = {one.name: one.runs for one in totals(machine.runs, lambda run: run.month)}
    assert months == {"2026-11": 2, "2026-12": 1, "?": 1}
    assert users[0].io_s / users[0].process_s == pytest.approx(0.91, abs=0.01)


def test_months_are_printed_in_their_order(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    heavy = replace(machine.runs[2], bytes_written=10**12)  # of December
    print_machine(replace(machine, runs=[*machine.runs[:2], heavy]), Console(width=120))
    lines = capsys.readouterr().out.splitlines()
    months = [line.split()[0] for line in lines[lines.index("Months") :] if line.startswith("2026-")]
    assert months == ["2026-11", "2026-12"]


def test_an_export_beside_its_run_is_no_second_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_of("ost0").store(tmp_path / "all" / "run")
    with Dataset.open(run) as dataset:
        writer_of("otf2")(dataset, tmp_path / "all" / "run.otf2")
    machine = read_machine(tmp_path / "all")
    assert ([one.name for one in machine.runs], machine.exports) == (["run"], ["run.otf2"])
    print_machine(machine, Console(width=120))
    assert "not read: run.otf2: an export" in capsys.readouterr().out
    shutil.rmtree(run)
    assert find_runs(tmp_path / "all").runs == [tmp_path / "all" / "run.otf2"]


def test_servers_tell_who_loads_them_when(machine: Machine) -> None:
    uses = {(use.server, machine.runs[use.run].name): use for use in server_uses(machine)}
    assert set(uses) == {("ost0", "a"), ("ost0", "b"), ("ost1", "deep/c")}
    use = uses["ost0", "b"]
    assert (use.start, sum(use.bytes)) == (NOVEMBER + 5, 10 * MIB)
    second = next(step for step, volume in enumerate(use.bytes) if volume and step)
    assert second * use.bin_s == pytest.approx(1.0, abs=use.bin_s)


def test_runs_at_once_are_counted_where_they_overlap(machine: Machine) -> None:
    found = {one.name: (one.runs, one.bytes, one.most_at_once) for one in server_totals(machine)}
    assert found["ost1"] == (1, 10 * MIB, 1)
    assert found["ost0"][:2] == (3, 30 * MIB)


def test_two_runs_in_the_same_steps_load_a_server_twice(tmp_path: Path) -> None:
    for name in ("a", "b"):
        run_of("ost0").store(tmp_path / name, start=NOVEMBER)
    run_of("ost0").store(tmp_path / "later", start=NOVEMBER + 100)
    (found,) = server_totals(read_machine(tmp_path))
    assert (found.runs, found.most_at_once) == (3, 2)


def test_parameters_come_from_folders_and_facts() -> None:
    found = parameters_of("storm/mode=shared,nodes=4/run1", {"parameter.size": "8", "mpi.library": "x"})
    assert found == {"mode": "shared", "nodes": "4", "size": "8"}


def test_an_experiment_is_a_grid_of_its_parameters(tmp_path: Path) -> None:
    for mode in ("shared", "own"):
        for nodes in ("16", "4"):
            trace = scenarios.healthy(ranks=4, phases=2)
            trace.store(tmp_path / f"mode={mode}" / f"nodes={nodes}")
    machine = read_machine(tmp_path)
    assert differing(machine) == ["mode", "nodes"]
    grid = variability_grid(machine, row="nodes")
    assert grid is not None
    assert (grid.row_parameter, grid.column_parameter) == ("nodes", "mode")
    assert grid.rows == ["4", "16"]  # as numbers
    assert all(len(cell.phases) == 2 and cell.phases[0].rank_count == 4 for cell in grid.cells)
    assert len(grid.cells) == 4
    with pytest.raises(UsageError, match="size: no parameter that differs among the runs; those that do: mode, nodes"):
        variability_grid(machine, row="size")


def test_runs_alike_make_no_grid(machine: Machine) -> None:
    assert variability_grid(machine) is None


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(UsageError, match="no run here, nor 4 folders down"):
        find_runs(tmp_path)


def test_runs_of_every_kind_are_found_and_broken_ones_are_named(tmp_path: Path) -> None:
    run_of("ost0").store(tmp_path / "a")
    day = tmp_path / "2026" / "11" / "21"
    day.mkdir(parents=True)
    shutil.copy(DATA / "darshan" / "ior-hdf5.darshan", day / "ior.darshan")
    (day / "cut.darshan").write_bytes((DATA / "darshan" / "ior-hdf5.darshan").read_bytes()[:900])
    (day / "none.darshan").write_bytes(b"")
    (day / "job.out").write_text("not spoken of")
    shutil.copytree(DATA / "recorder" / "mpi", tmp_path / "recorder")
    machine = read_machine(tmp_path)
    assert {run.name for run in machine.runs} == {"a", "2026/11/21/ior.darshan", "recorder"}
    assert [one.name for one in machine.unread] == ["2026/11/21/none.darshan", "2026/11/21/cut.darshan"]
    log = next(run for run in machine.runs if run.name.endswith("ior.darshan"))
    assert (log.calls, log.program, log.user) == (None, "ior", "1000")  # counters alone
    assert (log.bytes_read, log.bytes_written) == (4_202_504, 4_195_800 + 2_050)  # to its file and its output
    assert log.io_s == pytest.approx(0.0171, abs=0.0001)


def test_many_runs_are_read_by_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        run_of("ost0").store(tmp_path / name, start=NOVEMBER)
    (tmp_path / "cut.darshan").write_bytes((DATA / "darshan" / "ior-hdf5.darshan").read_bytes()[:900])
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(machine_module, "FEW", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    machine = read_machine(tmp_path, told=lambda done, total: told.append((done, total)))
    assert [run.name for run in machine.runs] == ["a", "b"]
    assert [one.name for one in machine.unread] == ["cut.darshan"]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_parameters_come_from_the_command_and_the_environment_too() -> None:
    assert options_of("mpirun -n 4 ./app --size=8 -v mode=own input") == {
        "word 1": "mpirun",
        "-n": "4",
        "word 2": "./app",
        "--size": "8",
        "-v": "yes",
        "mode": "own",
        "word 3": "input",
    }
    facts = {"environment.ROMIO_HINTS": "/h", "mpi.hint.cb_nodes": "2", "mpi.library": "x", "parameter.mode": "all"}
    found = parameters_of("run1", facts, "./app mode=own")
    assert found == {"word 1": "./app", "mode": "all", "ROMIO_HINTS": "/h", "cb_nodes": "2"}


def test_of_parameters_that_divide_runs_alike_one_is_taken(tmp_path: Path) -> None:
    for ranks in (2, 4):
        for number in (1, 2):
            command = f"mpirun -n {ranks} ./app --seed {number}"
            run_of("ost0").store(tmp_path / f"{ranks}-{number}", ranks=ranks, command=command)
    assert differing(read_machine(tmp_path)) == ["ranks", "--seed"]


def test_grouped_steps_keep_their_sum() -> None:
    server = grouped(Server("a", read=[1.0, 2.0, 3.0, 4.0, 5.0], written=[0.0] * 5), 2)
    assert (server.read, server.written) == ([3.0, 7.0, 5.0], [0.0] * 3)


def test_a_run_that_kills_its_reader_takes_nobody_with_it(tmp_path: Path) -> None:
    path = run_of("ost0").store(tmp_path / "a")
    with workers(1) as pool:
        doomed = pool.submit(path, "doomed", Killer(), keep=False)  # type: ignore[arg-type]
        after = pool.submit(path, "after", None, keep=False)
        with pytest.raises(ConfigError, match="the process that read it ended with status 9: damaged"):
            doomed.result()
        assert after.result().bytes_written == 10 * MIB


class Killer:
    """What kills the process that unpickles it."""

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (9,)
