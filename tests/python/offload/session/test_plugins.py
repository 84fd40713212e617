"""Plugins run in processes of their own: what goes wrong in one costs its own work, and nothing else."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import sanitizers
from plugins import faulty, good_runs, library, workers_of
from running import (
    BUILDS,
    Case,
    check_complete,
    finish,
    is_gone,
    living_servers_of,
    state_of,
    stop_server,
    wait_for,
)
from segment import Word, words

FAULTS = {
    "write": "was ended by signal 11 (Segmentation fault) while it ran",
    "segv": "was ended by signal 11 (Segmentation fault) while it ran",
    "abort": "was ended by signal 6 (Aborted) while it ran",
    "kill": "was ended by signal 9 (Killed) while it ran",
    "exit": "ended with exit code 3 while it ran",
    "close": "was ended by signal 9 (Killed) while it ran",
    "mprotect": "threw: mprotect is refused",
    "throw": "threw: thrown by a plugin",
    "status": "returned 17",
}
"""What is said of each."""
SAID_BY_PLUGIN = {"mprotect", "throw", "status"}


def check_nothing_is_left(case: Case) -> None:
    wait_for(lambda: not living_servers_of(case) and not workers_of(case), what="all processes end")


def test_a_fault_costs_only_its_plugin_one_run(openmpi_case: Case) -> None:
    """Nine plugins of one event, each with a fault of its own in the same iteration."""
    case = openmpi_case
    case.ranks = 1
    case.configure(events=faulty(case, *(f"do: {fault}, at: 2" for fault in FAULTS)))
    outcome = case.run("iterations=5", "signal=each")
    assert outcome.status == 0, outcome.text
    check_complete(case, 5)
    counts = case.counts()
    assert counts["failed_actions"] == len(FAULTS)
    assert counts["ended_plugins"] == len(set(FAULTS) - SAID_BY_PLUGIN)
    assert counts["plugins_aside"] == counts["skipped_actions"] == counts["server_restarts"] == 0
    for i, (fault, said) in enumerate(FAULTS.items()):
        about = [m for m in counts["messages"] if f"'bad{i}'" in m]
        assert len(about) == 1, f"{fault}: {about}"
        assert said in about[0]
        assert good_runs(case, f"bad{i}") == [(0, 0), (1, 0), (3, 0), (4, 0)], fault
    if sanitizers.report_directory() is None:
        log = (case.output / "server-n0000.log").read_text()
        assert re.search(r"action 'bad1' \(process \d+\): signal 11 at address .*, after these calls:\n", log)
        assert "libfaulty_plugin.so(" in log
    check_nothing_is_left(case)


def test_a_plugin_that_hangs_is_ended_and_then_put_aside(openmpi_case: Case) -> None:
    """Its blocks would fill the buffer: they are given back, and all is stored."""
    case = openmpi_case
    case.configure(events=faulty(case, "do: hang | timeout: 500 ms, retries: 2", "do: none"), nz="32", size="440 KiB")
    outcome = case.run("iterations=12", "signal=each")
    assert outcome.status == 0, outcome.text
    check_complete(case, 12)
    counts = case.counts()
    assert counts["ended_plugins"] == 2
    assert counts["plugins_aside"] == 1
    assert counts["skipped_actions"] == 12 * 2 - 2
    assert "action 'bad0' took longer to run than its `timeout` of 500 ms: its process is ended" in counts["messages"]
    assert any("is not run any more: its process ended 2 times in a row" in m for m in counts["messages"])
    assert len(good_runs(case, "bad1")) == 12 * 2
    check_nothing_is_left(case)


@pytest.mark.skipif(sanitizers.report_directory() is not None, reason="a sanitizer's own memory has no limit")
def test_a_plugin_gets_no_more_memory_than_its_action_says(openmpi_case: Case) -> None:
    case = openmpi_case
    case.configure(events=faulty(case, "do: memory, at: 1", keys=", memory: 64 MiB"))
    outcome = case.run("iterations=3", "signal=each")
    assert outcome.status == 0, outcome.text
    check_complete(case, 3)
    assert "action 'bad0' threw: std::bad_alloc" in case.counts()["messages"]
    assert case.counts()["failed_actions"] == 2
    assert len(good_runs(case)) == 2 * 2


def test_plugins_that_cannot_start_or_end_are_told(openmpi_case: Case) -> None:
    case = openmpi_case
    case.ranks = 1
    case.configure(
        events=faulty(
            case,
            "in: init, do: say",
            "in: init, do: abort",
            "in: init, do: hang | timeout: 300 ms",
            "in: finalize, do: abort",
            "in: finalize, do: hang | timeout: 1 s",
            "in: end",
            keys=", retries: 2",
        )
    )
    outcome = case.run("iterations=4", "signal=each")
    assert outcome.status == 0, outcome.text
    check_complete(case, 4)
    counts = case.counts()
    assert counts["plugins_aside"] == 3
    said = "\n".join(counts["messages"])
    assert "action 'bad0' could not start: init failed: no data to start with" in said
    assert "action 'bad1': its process was ended by signal 6 (Aborted) while it started" in said
    assert "action 'bad2' took longer to start than its `timeout` of 300 ms" in said
    assert "action 'bad3': its process was ended by signal 6 (Aborted) while it ended its work" in said
    assert "action 'bad4' took longer to end than its `timeout` of 1 s" in said
    for name in ("bad3", "bad4", "bad5"):
        assert len(good_runs(case, name)) == 4
    assert "the end" in (case.output / "faulty.txt").read_text()
    check_nothing_is_left(case)


REFUSED = {
    "bare_function": "is a function, as modules exported it up to ABI 2 of halcyon/action.h; this Halcyon runs plugins",
    "of_tomorrow": "was built against ABI 4 of halcyon/action.h, and this Halcyon runs plugins of ABI 3: compile the",
    "no_plugin": "is no plugin; halcyon/action.h exports one by HALCYON_PLUGIN(no_plugin, init, run, finalize)",
    "without_run": "has no function to run",
}


def refused(case: Case, *functions: str) -> str:
    module = f"type: module, module: {library(case, 'refused')}, function: "
    actions = [f"  {f}: {{{module}{f}}}" for f in functions]
    return "\n".join([f"events:\n  each: {{actions: [{functions[0]}], scope: client}}\nactions:", *actions])


def test_modules_of_another_interface_are_refused_with_the_way_out(openmpi_case: Case) -> None:
    openmpi_case.configure(events=refused(openmpi_case, *REFUSED))
    check = [BUILDS["openmpi"] / "bin/halcyon-check", openmpi_case.directory / "halcyon.yaml"]
    done = subprocess.run(check, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    for function, reason in REFUSED.items():
        assert f"actions.{function}.function: '{function}' {reason}" in done.stderr


@pytest.mark.parametrize(("function", "top"), [("bare_function", ""), ("of_tomorrow", "inline: true")])
def test_a_module_of_another_interface_fails_the_open(openmpi_case: Case, function: str, top: str) -> None:
    openmpi_case.ranks = 1
    openmpi_case.configure(events=refused(openmpi_case, function), top=top)
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert f"actions.{function}.function: '{function}' {REFUSED[function]}" in outcome.ranks[0]["open"]


def test_without_the_program_for_plugins_open_fails_and_names_it(openmpi_case: Case) -> None:
    openmpi_case.configure(events=faulty(openmpi_case, "do: none"))
    openmpi_case.environment["HALCYON_WORKER"] = "/nowhere/halcyon-worker"
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "looked for /nowhere/halcyon-worker; set HALCYON_WORKER to its path" in outcome.ranks[0]["open"]


def test_a_worker_has_the_segment_for_reading_alone_and_leaves_the_core_to_its_server(openmpi_case: Case) -> None:
    case = openmpi_case
    case.ranks = 1
    case.configure(events=faulty(case, "do: none"))
    run = case.start("iterations=3", "signal=each", case.gates(1))
    case.wait_at_gate(1)
    (worker,) = workers_of(case)
    server = case.server_process()
    fields = [Path(f"/proc/{p}/stat").read_text().rsplit(")", 1)[1].split() for p in (server, worker)]
    assert int(fields[1][16]) == int(fields[0][16]) + 10, "its nice value"
    assert os.sched_getaffinity(worker) == os.sched_getaffinity(server)
    kept = {f.name: str(f.readlink()) for f in Path(f"/proc/{worker}/fd").iterdir()}
    others = {name: file for name, file in kept.items() if int(name) > 2}
    assert sorted(re.sub(r"[^a-z-]", "", file) for file in others.values()) == ["memfdhalcyon-segmentdeleted", "socket"]
    segment = next(name for name, file in others.items() if "halcyon-segment" in file)
    assert (
        int(Path(f"/proc/{worker}/fdinfo/{segment}").read_text().split("flags:")[1].split()[0], 8) & os.O_ACCMODE == 0
    )
    maps = Path(f"/proc/{worker}/maps").read_text().splitlines()
    assert {line.split()[1] for line in maps if "halcyon-segment" in line} == {"r--s"}
    case.open_gate(1)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_nothing_is_left(case)


def test_a_server_that_is_killed_takes_its_plugins_with_it_and_the_next_one_starts_them_anew(
    openmpi_case: Case,
) -> None:
    case = openmpi_case
    case.ranks = 1
    case.configure(events=faulty(case, "do: hang, at: 2"))
    run = case.start("iterations=8", "signal=each", case.gates(3, 5))
    wait_for(lambda: (case.output / "counts-n0000.json").exists(), what="the server is there")
    first = case.server_process()
    wait_for(lambda: words(first, Word.SIGNALS_TAKEN, 1) == [3], what="the server has the signals")
    wait_for(lambda: words(first, Word.SIGNALS_DONE, 1) == [2], what="the plugin hangs")
    old = workers_of(case)
    assert len(old) == 1
    stop_server(first)
    wait_for(lambda: all(map(is_gone, old)), what="the worker ends with its server")
    case.open_gate(3)
    case.open_gate(5)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 8)
    counts = case.counts()
    assert counts["server_restarts"] == 1
    assert counts["ended_plugins"] == counts["plugins_aside"] == 0
    assert counts["lost_signals"] == 1
    assert good_runs(case) == [(i, 0) for i in range(8) if i != 2]
    check_nothing_is_left(case)


STEPS = 16
"""Ends of workers: before and after each message of a worker that does two runs."""


def test_a_worker_may_be_killed_at_any_of_its_messages(openmpi_case: Case) -> None:
    case = openmpi_case
    case.ranks = 1
    worker = case.directory / "worker"
    build = BUILDS[case.mpi]
    worker.write_text(
        f"#!/bin/sh\nLD_PRELOAD={build}/tests/libkilled_at_message.so STEPS={case.directory} "
        f"exec {build}/bin/halcyon-worker\n"
    )
    worker.chmod(0o755)
    case.environment["HALCYON_WORKER"] = str(worker)
    case.configure(events=faulty(case, *["do: none"] * STEPS))
    outcome = case.run("iterations=5", "signal=each")
    assert outcome.status == 0, outcome.text
    check_complete(case, 5)
    counts = case.counts()
    assert counts["ended_plugins"] >= STEPS - 2, "those that end behind their last message may have ended in order"
    assert counts["plugins_aside"] == 0
    runs = sum(len(good_runs(case, f"bad{i}")) for i in range(STEPS))
    # A run whose worker was killed behind its line, before it could say so, counts as one that failed.
    assert 5 * STEPS - counts["failed_actions"] <= runs <= 5 * STEPS
    check_nothing_is_left(case)


def test_two_hundred_faults_cost_no_block(openmpi_case: Case) -> None:
    case = openmpi_case
    case.configure(events=faulty(case, "do: any, random: 80", keys=", retries: 1000000"))
    run = case.start("iterations=125", "signal=each", case.gates(5, 125))
    case.wait_at_gate(5)
    server = case.server_process()
    wait_for(lambda: sum(words(server, Word.SIGNALS_DONE, 2)) == 10, what="the plugin has nothing to do")
    before = len(list(Path(f"/proc/{server}/fd").iterdir()))
    case.open_gate(5)
    wait_for(lambda: sum(words(server, Word.SIGNALS_DONE, 2)) == 250, 60, what="all runs are over")
    assert abs(len(list(Path(f"/proc/{server}/fd").iterdir())) - before) <= 6, "descriptors of workers are left"
    children = [c for t in Path(f"/proc/{server}/task").glob("*/children") for c in t.read_text().split()]
    assert not [c for c in children if state_of(int(c)) == "Z"], "workers were not reaped"
    case.open_gate(125)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 125)
    counts = case.counts()
    assert counts["failed_actions"] >= 180
    assert len(good_runs(case)) == 250 - counts["failed_actions"]
    assert counts["server_restarts"] == counts["missing_blocks"] == counts["lost_signals"] == 0
    check_nothing_is_left(case)


def test_a_plugin_may_run_in_the_clients_although_there_is_a_server(openmpi_case: Case) -> None:
    case = openmpi_case
    case.configure(events=faulty(case, "do: status, at: 1", keys=", inline: true"))
    outcome = case.run("iterations=3", "signal=each")
    assert outcome.status == 0, outcome.text
    check_complete(case, 3)
    assert good_runs(case) == [(i, r) for i in (0, 2) for r in range(2)]
    assert [case.counts(f"c0000{r}")["failed_actions"] for r in range(2)] == [1, 1]
    assert case.counts()["failed_actions"] == 0
    check_nothing_is_left(case)
