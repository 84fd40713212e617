"""Findings become settings that the run's library can be given, and only those that it did not have."""

import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import Ask, ask, is_found
from observe.synthetic import MIB, Trace

from halcyon.observe.advise.settings import named
from halcyon.observe.advise.suggestions import advise
from halcyon.observe.findings.finding import Evidence

__all__ = ["ask"]


def suggested(ask: Ask, trace: Trace, **facts: str) -> list[str]:
    keys = {"library": "mpi.library", "io": "environment.OMPI_MCA_io"}
    for name, value in facts.items():
        trace.facts.append({"process": 0, "key": keys.get(name, f"mpi.hint.{name}"), "value": value})
    return [named(one.settings) for one in advise(ask(trace)).suggestions]


def test_sieving_suggests_to_leave_it_and_longer_ranges(ask: Ask) -> None:
    assert suggested(ask, scenarios.sieving(), romio_ds_write="automatic", ind_wr_buffer_size="524288") == [
        "romio_ds_write=disable",
        "ind_wr_buffer_size=4194304",
    ]


def test_the_pieces_of_the_view_are_part_of_the_reason(ask: Ask) -> None:
    trace = scenarios.sieving()
    trace.facts += [{"process": rank, "file": 0, "key": "mpi.view", "value": "64 bytes every 256"} for rank in range(4)]
    reasons = [evidence for one in advise(ask(trace)).suggestions for evidence in one.evidence]
    assert Evidence("view_piece_bytes", "pieces that the view shows", 64) in reasons
    assert Evidence("view_stride_bytes", "from the begin of a piece to that of the next", 256) in reasons


def test_sieving_that_costs_little_is_told_and_not_tried(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/shared")
    for call in range(12):
        outer = trace.mpi_write(call % 2, file, call * MIB, MIB, call * 200.0, 100)
        trace.read(call % 2, file, call * MIB, MIB, call * 200.0 + 1, 2, inside=outer)
        trace.write(call % 2, file, call * MIB, MIB, call * 200.0 + 5, 90, inside=outer)
    advice = advise(ask(trace))
    assert advice.suggestions == []
    assert len(advice.observed) == 1
    assert "12 cycles of lock, read, write, unlock, whose reads and locks take 2 %" in advice.observed[0]


def test_what_the_run_had_is_not_suggested(ask: Ask) -> None:
    assert suggested(ask, scenarios.sieving(), romio_ds_write="disable", ind_wr_buffer_size="8388608") == []


def test_open_mpi_is_given_its_own_parameters(ask: Ask) -> None:
    assert suggested(ask, scenarios.sieving(), library="Open MPI v4.1.4") == [
        "OMPI_MCA_io=romio321",
        "OMPI_MCA_fbtl_posix_write_datasieving=0",
    ]


@pytest.mark.parametrize(("library", "method"), [("Open MPI v4.1.4", "two_phase"), ("Open MPI v5.0.3", "dynamic_gen2")])
def test_open_mpi_is_given_methods_that_it_has(ask: Ask, library: str, method: str) -> None:
    found = suggested(ask, scenarios.interleaved("MPI_File_write_at_all"), library=library)
    assert [one for one in found if "fcoll" in one] == [f"OMPI_MCA_fcoll={method}", "OMPI_MCA_fcoll=vulcan"]


def test_open_mpi_with_romio_is_given_hints(ask: Ask) -> None:
    found = suggested(ask, scenarios.sieving(), library="Open MPI v4.1.4", romio_ds_write="automatic")
    assert "romio_ds_write=disable" in found


def test_collective_calls_without_buffering_are_suggested_to_have_it(ask: Ask) -> None:
    assert "romio_cb_write=enable" in suggested(ask, scenarios.interleaved("MPI_File_write_at_all"))


def test_contiguous_independent_calls_are_beyond_the_reach_of_hints(ask: Ask) -> None:
    advice = advise(ask(scenarios.interleaved()))
    assert not any("romio" in named(one.settings) for one in advice.suggestions)
    assert "collective-buffering-write" in {one.key for one in advice.beyond}


def pieces_apart(ranks: int = 4) -> Trace:
    """Each call writes 64 pieces of 64 bytes, one by one: data sieving is off."""
    trace = Trace(ranks)
    file = trace.file("/scratch/shared")
    for call in range(10):
        for rank in range(ranks):
            start = call * 200.0
            outer = trace.mpi_write(rank, file, 0, 4096, start, 130)
            for piece in range(64):
                offset = ((call * 64 + piece) * ranks + rank) * 64
                trace.write(rank, file, offset, 64, start + 1 + piece * 2, 2, inside=outer)
    return trace


def test_pieces_that_are_written_one_by_one_suggest_the_mpiio_that_joins_them(ask: Ask) -> None:
    for ranks in (2, 4):
        assert suggested(ask, pieces_apart(ranks), library="Open MPI v4.1.4") == ["OMPI_MCA_io=romio321"]
        assert suggested(ask, pieces_apart(ranks), library="Open MPI v5.0.3") == ["OMPI_MCA_io=romio341"]


def test_pieces_that_cost_too_little_for_a_finding_are_tried_all_the_same(ask: Ask) -> None:
    trace = pieces_apart(2)
    for rank in range(2):
        trace.write(rank, trace.file(f"/scratch/{rank}"), 0, 64 * MIB, 5000, 3_000_000)
    assert not is_found(ask(trace), "collective-buffering-write")
    assert suggested(ask, trace, romio_ds_write="disable") == ["romio_ds_write=enable"]
    assert suggested(ask, trace, romio_ds_write="automatic") == []


def test_pieces_that_are_written_one_by_one_suggest_sieving(ask: Ask) -> None:
    assert suggested(ask, pieces_apart(), romio_ds_write="disable") == ["romio_ds_write=enable"]


@pytest.mark.parametrize(("filesystem", "expected"), [("lustre", True), ("ext4", False)])
def test_striping_is_suggested_where_it_can_be_set(ask: Ask, filesystem: str, expected: bool) -> None:
    trace = scenarios.uneven_servers()
    for file in trace.files:
        file["filesystem"] = filesystem
    index = trace.file("/scratch/checkpoint", servers=["ost1", "ost2"], filesystem=filesystem)
    trace.mpi_write(0, index, 0, MIB, 0, 1)
    assert ("striping_factor=8" in suggested(ask, trace)) == expected


def test_collective_time_outside_of_the_file_system_is_worth_a_trial(ask: Ask) -> None:
    trace = Trace(4)
    file = trace.file("/scratch/shared")
    for rank in range(4):
        outer = trace.mpi_write(rank, file, rank * MIB, MIB, 0, 100, call="MPI_File_write_all")
        if rank == 0:
            trace.write(0, file, 0, 4 * MIB, 90, 9, inside=outer)
    assert suggested(ask, trace, cb_nodes="1") == ["romio_cb_write=disable", "cb_nodes=4, cb_config_list=*:*"]


def test_a_healthy_run_suggests_nothing(ask: Ask) -> None:
    assert suggested(ask, scenarios.healthy()) == []
