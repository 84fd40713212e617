"""Settings that won alone are tried together, unless they contradict; only what beats the best single one is used."""

from io import StringIO
from pathlib import Path

import pytest
from observe.advise.conftest import Modelled, Seconds
from rich.console import Console

from halcyon.observe.advise.combination import combine
from halcyon.observe.advise.library import Library
from halcyon.observe.advise.report_text import print_results
from halcyon.observe.advise.settings import parse_settings
from halcyon.observe.advise.try_settings import Tried, try_settings

AGGREGATORS, BUFFER = parse_settings("cb_nodes=4"), parse_settings("cb_buffer_size=4MiB")


@pytest.mark.parametrize(
    ("won", "together", "apart"),
    [
        (["cb_nodes=4", "cb_buffer_size=4MiB"], "cb_nodes=4,cb_buffer_size=4194304", []),
        (
            ["romio_ds_write=disable", "ind_wr_buffer_size=4MiB", "cb_nodes=4"],
            "romio_ds_write=disable,cb_nodes=4",
            ["ind_wr_buffer_size means nothing with romio_ds_write=disable"],
        ),
        (
            ["cb_nodes=4", "cb_nodes=2"],
            "cb_nodes=4",
            ["cb_nodes=2 contradicts cb_nodes=4"],
        ),
        (
            ["OMPI_MCA_io=romio321", "OMPI_MCA_fbtl_posix_write_datasieving=0"],
            "OMPI_MCA_io=romio321",
            ["OMPI_MCA_fbtl_posix_write_datasieving means nothing with OMPI_MCA_io=romio321"],
        ),
        (["cb_nodes=4,cb_config_list=*:*", "cb_nodes=4"], "cb_nodes=4,cb_config_list=*:*", []),
    ],
)
def test_what_contradicts_is_not_combined(won: list[str], together: str, apart: list[str]) -> None:
    found = combine([parse_settings(one) for one in won])
    assert found.settings == parse_settings(together)
    assert [one.partition(": ")[2] for one in found.apart] == apart


def tried(tmp_path: Path, seconds: Seconds, *settings: str) -> Tried:
    return try_settings(Modelled(seconds), [parse_settings(one) for one in settings], tmp_path)


def said(found: Tried) -> str:
    text = StringIO()
    print_results(found, Library(), Console(file=text, width=200, highlight=False))
    return text.getvalue()


def both_help(hints: dict[str, str]) -> float:
    return (0.5 if "cb_nodes" in hints else 1.0) * (0.7 if "cb_buffer_size" in hints else 1.0)


def only_the_better_counts(hints: dict[str, str]) -> float:
    return 0.5 if "cb_nodes" in hints else both_help(hints)


def test_the_combination_is_used_when_it_beats_the_best_single_one(tmp_path: Path) -> None:
    found = tried(tmp_path, both_help, "cb_nodes=4", "cb_buffer_size=4MiB")
    assert found.together is not None
    assert found.together.unchanged.settings == AGGREGATORS
    assert [one.variant.settings for one in found.together.recommended()] == [AGGREGATORS + BUFFER]
    assert "Use cb_nodes=4, cb_buffer_size=4194304: time in MPI-IO transfers is" in said(found)
    assert "of what it was with cb_nodes=4 alone" in said(found)


def test_the_combination_is_left_when_it_does_not(tmp_path: Path) -> None:
    found = tried(tmp_path, only_the_better_counts, "cb_nodes=4", "cb_buffer_size=4MiB")
    assert found.together is not None
    assert found.together.recommended() == []
    assert "Use cb_nodes=4: time in MPI-IO transfers is" in said(found)
    assert "Not cb_nodes=4, cb_buffer_size=4194304 together: no difference seen beyond cb_nodes=4 alone" in said(found)


def test_the_best_single_one_stands_in_each_round_beside_the_combination(tmp_path: Path) -> None:
    launch = Modelled(both_help)
    found = try_settings(launch, [AGGREGATORS, BUFFER], tmp_path)
    assert found.together is not None
    own = launch.order[-3 * found.together.rounds :]  # type: ignore[attr-defined]
    rounds = [own[at : at + 3] for at in range(0, len(own), 3)]
    assert all(sorted(len(hints) for hints in one) == [1, 1, 2] for one in rounds)
    assert all("cb_nodes" in hints for one in rounds for hints in one)


def test_what_contradicts_is_tried_no_further(tmp_path: Path) -> None:
    found = tried(tmp_path, both_help, "cb_nodes=4", "cb_nodes=2")
    assert found.together is None
    assert "contradicts" in said(found)


def test_one_winner_needs_no_combination(tmp_path: Path) -> None:
    found = tried(tmp_path, only_the_better_counts, "cb_nodes=4", "romio_ds_read=disable")
    assert found.combination is None
    assert found.together is None
