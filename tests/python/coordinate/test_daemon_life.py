"""The daemon's own life: signals, its configuration, its log, its epochs."""

import os
import re
import signal
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinator_process import LIMIT_S, RELEARNING, CoordinatorProcess, wait_until
from scripted_agents import Agent, has_turn, heard, run_until

from halcyon.coordinate.configuration import find_program
from halcyon.coordinate.connection import Connection

Prepare = Callable[..., CoordinatorProcess]


def epoch_of(of: CoordinatorProcess) -> int:
    return of.top().load.epoch


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_order_by_a_signal(start: Prepare, by: signal.Signals) -> None:
    of = start()
    agent = Agent(of, "A")
    run_until([agent], heard(agent, "registered"), "A is registered")
    of.signal(by)
    assert of.process is not None
    assert of.process.wait(LIMIT_S) == 0
    run_until([agent], lambda: agent.closed, "A's connection is closed")
    assert not of.socket.exists()
    assert not of.metrics_socket.exists()
    assert of.log.read_text().endswith(" halcyon-coordinator scratch: ends\n")


def test_a_killed_daemon_leaves_a_socket_that_the_next_one_replaces(start: Prepare) -> None:
    of = start()
    of.kill()
    assert of.socket.exists()
    of.start()
    assert of.top().load.applications == 0


def test_the_files_of_its_sockets_are_made_anew_when_somebody_has_deleted_them(start: Prepare) -> None:
    of = start()
    a = Agent(of, "A")
    a.begin()
    run_until([a], has_turn(a), "A has the turn")
    of.socket.unlink()
    of.metrics_socket.unlink()
    for at in (of.address, f"unix:{of.metrics_socket}"):
        said = f"listens at {at} again: the file of its socket was gone\n"
        run_until([a], lambda: said in of.log.read_text(), f"it listens at {at}")  # noqa: B023
    assert of.count("reopened_addresses") == 2
    b = Agent(of, "B")
    b.begin()
    run_until([a, b], heard(b, "wait"), "B waits")
    assert not a.closed
    assert of.end() == 0
    assert not of.socket.exists()
    assert not of.metrics_socket.exists()


def test_the_file_of_a_socket_that_was_moved_away_is_made_anew_with_its_permissions(start: Prepare) -> None:
    of = start(socket_permissions="0622")
    of.socket.rename(of.folder / "elsewhere")
    wait_until(lambda: f"listens at {of.address} again" in of.log.read_text(), "it is there again")
    assert stat.S_IMODE(of.socket.stat().st_mode) == 0o622
    assert of.top().load.applications == 0


def test_a_file_in_the_place_of_its_socket_is_left_alone_and_said(start: Prepare) -> None:
    of = start()
    foreign = of.folder / "foreign"
    foreign.write_text("of somebody else")
    foreign.rename(of.socket)
    wait_until(lambda: "the file is there and is no socket" in of.log.read_text(), "it says so")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(foreign))
        other.listen()
        foreign.rename(of.socket)
        wait_until(lambda: f"in use by process {os.getpid()}" in of.log.read_text(), "it says who listens there")
        assert of.socket.is_socket()
        other.accept()[0].close()  # the daemon has looked whether anybody does
        of.socket.unlink()
        wait_until(lambda: f"listens at {of.address} again" in of.log.read_text(), "it listens")
    assert of.top().load.applications == 0
    said = of.log.read_text()
    assert said.count("the file is there and is no socket") == 1, "once, not four times a second"
    assert said.count("clients do not find the socket any more, and it cannot be made anew: ") == 2


def test_it_says_which_version_it_speaks_and_refuses_agents_of_another_one(start: Prepare) -> None:
    done = subprocess.run([find_program(), "--version"], capture_output=True, text=True, check=True)
    told = re.fullmatch(r"halcyon-coordinator (\d+\.\d+\.\d+), protocol (\d+)\n", done.stdout)
    assert told
    with Connection(start().address) as agent:
        later = {"version": int(told[2]) + 1, "job": "later", "processes": 1, "nodes": 1, "node": "n1"}
        agent.send({"type": "register", **later, "secret": "sixteen or more of them"})
        refused = agent.receive()
    assert refused["type"] == "refused"
    assert f"speaks version {told[2]}" in refused["reason"]


def test_a_second_daemon_at_the_same_address_is_refused(start: Prepare) -> None:
    of = start()
    second = subprocess.run([find_program(), "--config", of.config], capture_output=True, text=True, check=False)
    assert second.returncode == 1
    assert f"{of.address}: in use by process {of.pid}" in second.stderr
    assert of.top().load.applications == 0


def test_it_does_not_start_where_a_file_that_is_no_socket_is_in_its_place(prepare: Prepare) -> None:
    of = prepare()
    of.socket.write_text("precious")
    done = subprocess.run([find_program(), "--config", of.config], capture_output=True, text=True, check=False)
    assert done.returncode == 1, "nothing is wrong with the command line"
    assert done.stderr == (
        f"halcyon-coordinator: {of.address}: the file is there and is no socket; remove it, or choose another path\n"
    )
    assert of.socket.read_text() == "precious"


def test_it_does_not_start_for_a_process_that_is_not_its_starter(prepare: Prepare) -> None:
    command = [find_program(), "--config", prepare().config, "--end-with", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 2
    expected = f"--end-with 1: expected the process that starts this one, and it has to live; that is {os.getpid()}"
    assert expected in done.stderr


def test_sighup_takes_over_another_policy_and_agents_keep_their_turn(start: Prepare) -> None:
    of = start()
    a = Agent(of, "A")
    a.begin()
    run_until([a], has_turn(a), "A has the turn")
    lease, epoch = a.lease, epoch_of(of)
    of.configure(policy="fair-share", times=RELEARNING)
    of.signal(signal.SIGHUP)
    run_until([a], lambda: a.closed, "A has to connect again")
    a.come_back()
    run_until([a], heard(a, "grant"), "A goes on")
    assert a.lease == lease
    assert of.top().load.rule == "fair-share"
    assert epoch_of(of) > epoch
    assert of.count("grants") == 1  # of the first epoch: counts go on


def test_sighup_without_a_change_of_turns_leaves_connections(start: Prepare) -> None:
    of = start()
    a = Agent(of, "A")
    a.begin()
    run_until([a], has_turn(a), "A has the turn")
    other = of.folder / "other"
    of.configure(listen=[str(of.address), f"unix:{other}"], administrators=[12345])
    of.signal(signal.SIGHUP)
    run_until([a], other.exists, "it listens at the other address, too")
    assert not a.closed
    of.configure()
    of.signal(signal.SIGHUP)
    run_until([a], lambda: not other.exists(), "it does not listen there any more")
    run_until([a], lambda: of.count("reloads") == 2, "both were taken over")
    run_until([a], heard(a, "grant", len(a.of_type("grant")) + 2), "A's lease is renewed")
    assert not a.closed
    assert of.count("epochs") == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"policy": "fcsf"}, "coordinators.scratch.policy: 'fcsf' is not known; did you mean 'fcfs'?"),
        ({"listen": ["unix:/proc/none/socket"]}, "/proc/none: No such file or directory"),
        ({"socket_permissions": "0600"}, "change with a restart of the daemon"),
    ],
)
def test_sighup_with_a_wrong_configuration_changes_nothing(
    start: Prepare, settings: dict[str, object], said: str
) -> None:
    of = start()
    a = Agent(of, "A")
    a.begin()
    run_until([a], has_turn(a), "A has the turn")
    of.configure(**settings)
    of.signal(signal.SIGHUP)
    run_until([a], lambda: "the configuration stays as it was" in of.log.read_text(), "it says so")
    assert said in of.log.read_text()
    assert of.count("refused_reloads") == 1
    assert of.top().load.rule == "fcfs"
    assert not a.closed


def test_a_log_that_cannot_be_written_is_dropped_and_counted(prepare: Prepare) -> None:
    of = prepare()
    with Path("/dev/full").open("wb") as full:
        of.start(log=full)
    assert of.count("dropped_log_lines") > 0
    a = Agent(of, "A")
    a.begin()
    run_until([a], has_turn(a), "A has the turn")


def test_a_log_that_nobody_reads_delays_nothing(prepare: Prepare) -> None:
    of = prepare()
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "wb") as unread:
        os.set_blocking(writing, False)
        try:
            while True:
                os.write(writing, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writing, True)
        of.start(log=unread)
        a = Agent(of, "A")
        a.begin()
        run_until([a], has_turn(a), "A has the turn")
        assert of.count("dropped_log_lines") > 0


def test_epochs_rise_from_daemon_to_daemon(start: Prepare) -> None:
    of = start()
    epochs = [epoch_of(of)]
    for _ in range(3):
        of.kill()
        of.start()
        epochs.append(epoch_of(of))
    assert epochs == sorted(set(epochs))


def test_epochs_rise_though_the_clock_was_set_back(prepare: Prepare, tmp_path: Path) -> None:
    file = tmp_path / "epoch"
    file.write_text("4000000000\n")  # of a clock in 2056
    of = prepare(epoch_file=str(file))
    of.start()
    assert epoch_of(of) == 4_000_000_001
    assert file.read_text() == "4000000001\n"
    of.configure(epoch_file=str(file), policy="delay")
    of.signal(signal.SIGHUP)
    wait_until(lambda: "policy delay" in of.log.read_text(), "another epoch begins")
    assert epoch_of(of) == 4_000_000_002
    of.kill()
    of.start()
    assert epoch_of(of) == 4_000_000_003


def test_times_that_let_two_move_at_once_are_in_the_log(prepare: Prepare) -> None:
    of = prepare(times={"dead": "200 ms", "relearn": "0 s"})
    of.start()
    wait_until(lambda: "epoch" in of.log.read_text(), "it begins")
    warnings = [line for line in of.log.read_text().splitlines() if "warning" in line]
    assert len(warnings) == 1
    assert "warning: times.dead is 0.2 s: " in warnings[0]


def test_an_epoch_file_that_cannot_be_written_is_said_and_survived(prepare: Prepare) -> None:
    of = prepare(epoch_file="/proc/none/epoch")
    of.start()
    wait_until(lambda: "the epoch follows the clock alone" in of.log.read_text(), "it says so")


def test_an_epoch_file_that_a_power_loss_left_empty_is_said_and_written_anew(prepare: Prepare, tmp_path: Path) -> None:
    file = tmp_path / "epoch"
    file.touch()
    of = prepare(epoch_file=str(file))
    of.start()
    wait_until(lambda: f"warning: {file} is empty" in of.log.read_text(), "it says so")
    assert file.read_text() == f"{epoch_of(of)}\n"


def test_an_epoch_file_with_something_else_is_refused(prepare: Prepare, tmp_path: Path) -> None:
    file = tmp_path / "epoch"
    file.write_text("monday\n")
    of = prepare(epoch_file=str(file))
    ended = subprocess.run([find_program(), "--config", of.config], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"{file}:1: 'monday'; expected the number of the latest epoch" in ended.stderr
    assert not of.socket.exists()
