"""Many runs of one machine."""

from pathlib import Path

import pytest
from observe.analysis import scenarios
from observe.synthetic import MIB, Trace

from halcyon.errors import UsageError
from halcyon.observe.analysis.machine import (
    Machine,
    differing,
    find_datasets,
    parameters_of,
    read_machine,
    server_totals,
    server_uses,
    totals,
    variability_grid,
)

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
    assert all(len(cell.phases) == 2 and len(cell.phases[0].ranks) == 4 for cell in grid.cells)
    assert len(grid.cells) == 4
    with pytest.raises(UsageError, match="size: no parameter that differs among the runs; those that do: mode, nodes"):
        variability_grid(machine, row="size")


def test_runs_alike_make_no_grid(machine: Machine) -> None:
    assert variability_grid(machine) is None


def test_a_folder_without_data_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no data set here; `halcyon pack`"):
        find_datasets(tmp_path)
