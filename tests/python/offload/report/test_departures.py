"""Whatever was not the normal path is told, with its number; a run without any says so."""

from dataclasses import fields
from pathlib import Path

import pytest
from synthetic_runs import START_NS, write_counts

from halcyon.offload.departures import COUNTED, NOTHING, departures_of, messages_of, nothing_happened
from halcyon.offload.run_directory import open_run
from halcyon.offload.run_files import Counts


def texts(directory: Path) -> list[str]:
    return [departure.text for departure in departures_of(open_run(directory))]


def test_run_on_the_normal_path_has_none(hand_run: Path) -> None:
    assert texts(hand_run) == []
    assert nothing_happened(open_run(hand_run)) == NOTHING


def test_every_count_that_servers_keep_is_told_somewhere() -> None:
    normal = {"finished", "iterations", "blocks", "bytes", "busy_ns", "idle_ns"}
    beside_their_blocks = {"skipped_bytes", "spilled_bytes", "inlined_bytes", "unstored_bytes"}
    told_one_by_one = {"switches", "messages", "unknown"}
    assert {item.name for item in fields(Counts)} == COUNTED.keys() | normal | beside_their_blocks | told_one_by_one


@pytest.mark.parametrize("name", COUNTED)
def test_each_count_appears_with_its_number(hand_run: Path, name: str) -> None:
    write_counts(hand_run, **{name: 7})
    (text,) = texts(hand_run)
    assert text.startswith("7 ")


def test_counts_of_all_writers_add_up(hand_run: Path) -> None:
    write_counts(hand_run, skipped_blocks=2, skipped_bytes=3_000_000)
    write_counts(hand_run, "n0001", skipped_blocks=1, skipped_bytes=1_500_000)
    assert texts(hand_run) == ["3 blocks (4.50 MB) dropped because the buffer was full (policy skip)"]


def test_switches_of_a_kind_are_told_together_with_the_first_time(hand_run: Path) -> None:
    at = [START_NS + second * 10**9 for second in (4, 2, 3)]
    switches = [{"at_ns": at[0], "what": "a"}, {"at_ns": at[1], "what": "a"}, {"at_ns": at[2], "what": "b"}]
    write_counts(hand_run, switches=switches)
    assert texts(hand_run) == ["switched: a (2 times), first at 2.0 s", "switched: b, at 3.0 s"]


def test_counts_of_a_newer_halcyon_are_told_by_their_names(hand_run: Path) -> None:
    write_counts(hand_run, melted_blocks=4)
    assert texts(hand_run) == ["melted_blocks: 4"]


def test_gaps_of_the_directory_come_last(hand_run: Path) -> None:
    write_counts(hand_run, finished=False, iterations=3, server_restarts=1)
    assert texts(hand_run) == [
        "1 time a server died and was replaced",
        "server n0000 has not finished: its counts stop at iteration 3",
    ]


def test_messages_name_who_said_them(hand_run: Path) -> None:
    write_counts(hand_run, messages=["no core was free: the server shares core 1"])
    assert messages_of(open_run(hand_run)) == ["n0000: no core was free: the server shares core 1"]
