"""Which coordinators a command's processes ask, and what is said of their turns."""

import os
import socket
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from halcyon import installed_program
from halcyon.compiled import core
from halcyon.coordinate.configuration import find_program
from halcyon.errors import UnavailableError, UsageError
from halcyon.layers.agent_facts import Agents, await_agents, read_agents
from halcyon.layers.coordination import Coordination, Turns, read_turns, turns_in_words

NOT_SEEN = "static programs, children that drop LD_PRELOAD, and those that become another user are not seen"


@pytest.fixture(autouse=True)
def agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALCYON_AGENT", "/bin/true")


def test_each_path_has_a_line_and_each_job_its_own_name_and_secret(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    paths = (f"{tmp_path}/link=unix:/run/a.socket", "/scratch=tcp:host:7000")
    wanted, again = Coordination(paths).variables(), Coordination(paths).variables()
    assert wanted["HALCYON_COORDINATORS"] == f"{tmp_path}=unix:/run/a.socket\n/scratch=tcp:host:7000"
    assert wanted["HALCYON_AGENT"] == "/bin/true"
    for name in ("HALCYON_JOB", "HALCYON_JOB_SECRET"):
        assert wanted[name] != again[name]


def test_a_line_is_split_where_the_address_begins(tmp_path: Path) -> None:
    of = Coordination((f"{tmp_path}/run=5=unix:/run/a=b.socket",))
    assert of.coordinated == [f"{tmp_path}/run=5"]
    assert of.lines == [f"{tmp_path}/run=5=unix:/run/a=b.socket"]


@pytest.mark.parametrize("text", ["/scratch", "scratch=unix:/a", "=unix:/a", "/a\n/b=unix:/c"])
def test_what_is_no_path_with_an_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected PATH=ADDRESS, such as /scratch=unix:/run/halcyon/scratch\.socket"):
        Coordination((text,)).variables()


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"address 'nowhere'; expected unix:/path/to/socket"):
        Coordination(("/scratch=nowhere",)).variables()


def test_more_paths_than_a_process_has_room_for_are_refused() -> None:
    with pytest.raises(UsageError, match="9 coordinated paths; expected 8 or fewer"):
        Coordination(tuple(f"/{i}=unix:/a" for i in range(9))).variables()


def test_a_path_for_which_an_agent_has_no_room_is_refused() -> None:
    longest = "/" + "x" * 510
    assert Coordination((f"{longest}=unix:/a",)).variables()["HALCYON_COORDINATORS"] == f"{longest}=unix:/a"
    with pytest.raises(UsageError, match=r"/x+… has 512 bytes; expected 511 or fewer"):
        Coordination((f"{longest}x=unix:/a",)).variables()


@pytest.mark.parametrize("account", ["", "a" * 257, "physiké", "a\nb"])
def test_an_account_that_a_coordinator_would_refuse_is_refused(account: str) -> None:
    with pytest.raises(UsageError, match="expected 1 to 256 characters of ASCII"):
        Coordination(("/scratch=unix:/a",), account=account).variables()


def test_sockets_of_munged_are_those_of_the_file(tmp_path: Path) -> None:
    try:
        find_program()
    except UnavailableError as why:
        pytest.skip(str(why))
    file = tmp_path / "coordinators.yaml"
    one = "  {0}: {{paths: [/{0}, /more/{0}], address: 'tcp:host-{0}:7000'{1}}}\n"
    file.write_text("halcyon: 1\ncoordinators:\n" + one.format("a", ", munge-socket: /run/m") + one.format("b", ""))
    assert Coordination(file=file).variables()["HALCYON_MUNGE_SOCKETS"] == "/a=/run/m\n/more/a=/run/m"
    assert "HALCYON_MUNGE_SOCKETS" not in Coordination(("/a=tcp:host:7000",)).variables()


def test_without_a_file_the_way_out_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"no-file: no such file, .*name one: --coordinator PATH=ADDRESS"):
        Coordination(file=tmp_path / "no-file").variables()


def test_without_an_agent_the_places_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed_program, "places_of", lambda *_: [Path("/nowhere/halcyon-agent")])
    with pytest.raises(UnavailableError, match=r"no halcyon-agent; looked for /nowhere/halcyon-agent\. Set"):
        Coordination(("/scratch=unix:/a",)).variables()


def test_facts_of_processes_are_summed_over_their_mounts(tmp_path: Path) -> None:
    (tmp_path / "n.1.2.coordinate").write_text("end exit\nmount /a\nbytes 5\nwaited_ns 7\nmount /b\nbytes 6\n")
    (tmp_path / "n.2.2.coordinate").write_text("mount /a\nbytes 1\nbytes_unasked 9\ncalls_let_silent 3\n")
    told = read_turns(tmp_path)
    assert (told.processes, told.untold) == (2, 1)
    assert told.counts == Counter(bytes=12, waited_ns=7, bytes_unasked=9, calls_let_silent=3)


def test_what_went_on_out_of_turn_is_said_first_with_its_reasons() -> None:
    counts = Counter(bytes=10**9, bytes_unasked=10**6, calls_let_silent=3, calls_let_locks=2, waited_ns=1_500_000_000)
    silent = "no coordinator answered; `halcyon coordinator top` tells whether it runs"
    assert turns_in_words(Turns(2, untold=1, counts=counts)) == [
        f"1.00 MB moved out of turn: {silent}; 2 calls came while a process of the job held a file lock",
        "1 process did not tell of turns: still running, or lost",
        "2 processes took turns: 1.00 GB in turn; waited for 1.50 s, all threads together",
    ]
    dead = turns_in_words(Turns(1, counts=counts, agents=Agents(lost=1)))
    assert dead[0].startswith(
        "1.00 MB moved out of turn: an agent died, without which processes that run go on unasked"
    )
    assert turns_in_words(Turns(1, counts=Counter(bytes=1000))) == [
        "1 process took turns: 1.00 kB in turn; waited for 0 s, all threads together"
    ]


def test_facts_of_agents_are_summed_and_said_before_the_turns(tmp_path: Path) -> None:
    (tmp_path / "n.1.2.coordinate").write_text("end died\nmount /a\nbytes 1000\n")
    (tmp_path / "other.7.agent").write_text(
        "untold 1\nwithout_place 2\nmount /a\nphases 3\nvoided 1\nmount /b\nvoided 1\nsilences 1\n"
    )
    (tmp_path / "third.8.agent").write_text("untold 0\nwithout_place 0\nmount /a\nvoided 0\nend done\n")
    assert turns_in_words(read_turns(tmp_path)) == [
        "2 processes did I/O uncoordinated and uncounted: the job has more than 1,024 of them on a node",
        "a coordinator was silent for too long: 1 time",
        "2 leases lost: the coordinator took back the turn",
        "1 process died; its agent told of its turns",
        "1 process did not tell of turns: still running, or lost",
        "1 process took turns: 1.00 kB in turn; waited for 0 s, all threads together",
    ]


def test_why_a_coordinator_refused_an_agent_is_said(tmp_path: Path) -> None:
    (tmp_path / "n.7.agent").write_text(
        "untold 0\nthreads_missing 2\nmount /a\nrefusals 3\nerrors 1\nunsent 1\nlast_reason 12\nstops_uncleaned 1\n"
    )
    assert turns_in_words(read_turns(tmp_path))[:6] == [
        "a coordinator refused the job: 3 times",
        "1 message not understood by a coordinator",
        "1 message to a coordinator could not be written",
        "1 stop did not clean the node's caches: the agent found nothing there that it could open",
        "an agent was refused a thread (ulimit -u), and answered later than usual: 2 times",
        "1 agent heard last from a coordinator: 12",
    ]


def test_why_an_agent_could_not_connect_is_said(tmp_path: Path) -> None:
    for process in (7, 8):
        (tmp_path / f"n.{process}.agent").write_text("untold 0\nmount /a\nconnect_failure tcp:head:7410: no answer\n")
    assert turns_in_words(read_turns(tmp_path))[0] == (
        "2 agents could not connect to a coordinator: tcp:head:7410: no answer"
    )


def test_processes_that_could_not_take_turns_are_counted_by_their_reason(tmp_path: Path) -> None:
    for name, why in [("n.4.1.9", "no agent"), ("n.4.2.9", "no agent"), ("n.5.1.9", "another one")]:
        (tmp_path / f"{name}.uncoordinated").write_text(f"I/O is not coordinated: {why}\n")
    assert turns_in_words(read_turns(tmp_path)) == [
        "1 process: I/O is not coordinated: another one",
        "2 processes: I/O is not coordinated: no agent",
        f"no process did I/O on a coordinated path; {NOT_SEEN}",
    ]


def test_requests_that_pass_every_layer_are_said_not_to_have_waited(tmp_path: Path) -> None:
    (tmp_path / "n.1.2.predict").write_text("end exit\nabsence 30 requests of io_submit\nabsence 1 io_uring\n")
    assert turns_in_words(read_turns(tmp_path))[:2] == [
        "requests of io_submit (libaio) that did not wait, on files anywhere: 30",
        "rings of io_uring, whose reads and writes did not wait, on files anywhere: 1",
    ]


def agent_of_this_node(folder: Path, process: int, text: str) -> Path:
    path = folder / f"{core().coordinator.node_name()}.{process}.agent"
    path.write_text(text)
    return path


def dead_process() -> int:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    return ended.pid


def test_an_agent_that_died_is_not_waited_for_and_is_said(tmp_path: Path) -> None:
    agent_of_this_node(tmp_path, dead_process(), "untold 2\nmount /a\n")
    assert await_agents(tmp_path, limit_s=60)
    assert read_agents(tmp_path) == Agents(Counter(untold=2), lost=1)
    assert "1 agent died: later counts of that node are missing here" in turns_in_words(read_turns(tmp_path))


def test_an_agent_of_another_container_of_this_host_is_not_taken_for_dead(tmp_path: Path) -> None:
    (tmp_path / f"{socket.gethostname()}-0123456789abcdef.{dead_process()}.agent").write_text("untold 2\nmount /a\n")
    assert read_agents(tmp_path).lost == 0
    assert not await_agents(tmp_path, limit_s=0.05)


@pytest.mark.parametrize("others", [0, 1])
def test_an_agent_of_another_pid_namespace_is_not_taken_for_dead(tmp_path: Path, others: int) -> None:
    namespace = Path("/proc/self/ns/pid").stat().st_ino + others
    agent_of_this_node(tmp_path, dead_process(), f"untold 2\npid_namespace {namespace}\nmount /a\n")
    assert read_agents(tmp_path) == Agents(Counter(untold=2), lost=1 - others)
    assert await_agents(tmp_path, limit_s=0.05 if others else 60) == (not others)


def test_an_agent_that_has_not_told_yet_is_waited_for(tmp_path: Path) -> None:
    path = agent_of_this_node(tmp_path, os.getpid(), "untold 1\n")
    tell = f"read _; echo 'untold 0' > {path}"
    with subprocess.Popen(["sh", "-c", tell], stdin=subprocess.PIPE, text=True) as other:
        assert other.stdin
        assert not await_agents(tmp_path, limit_s=0.05)
        other.stdin.write("\n")
        other.stdin.flush()
        assert await_agents(tmp_path, limit_s=60)


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        (
            Counter(bytes_unasked=10**6, calls_let_others=1),
            "1.00 MB moved out of turn: 1 call must not wait (non-blocking calls, MPI-IO in the background)",
        ),
        (
            Counter(bytes_unasked=10**6, calls_let_starving=2),
            "1.00 MB moved out of turn: 2 calls had waited for as long as any call may",
        ),
        (
            Counter(bytes_unasked=10**6),
            "1.00 MB moved out of turn: no coordinator answered, unless calls in the background (aio) moved them",
        ),
        (
            Counter(calls_let_locks=1),
            "calls that moved nothing went on out of turn: 1 call came while a process of the job held a file lock",
        ),
    ],
)
def test_a_reason_is_said_only_where_it_is_one(counts: Counter[str], line: str) -> None:
    assert turns_in_words(Turns(1, counts=counts))[0] == line


def test_where_no_io_was_done_is_said_with_the_paths(tmp_path: Path) -> None:
    of = Coordination((f"{tmp_path}=unix:/a", "/scratch=unix:/b"))
    assert turns_in_words(Turns(), of.coordinated) == [f"no process did I/O below {tmp_path}, /scratch; {NOT_SEEN}"]
    assert turns_in_words(Turns()) == [f"no process did I/O on a coordinated path; {NOT_SEEN}"]


def test_agents_are_told_whom_coordinators_yaml_lets_them_believe(tmp_path: Path) -> None:
    entries = {
        "a": "address: tcp:host:7000",
        "b": "address: tcp:host:7001\n    insecure: true",
        "c": "address: unix:@c\n    user: 990",
    }
    file = tmp_path / "coordinators.yaml"
    file.write_text(
        "halcyon: 1\ncoordinators:\n"
        + "".join(f"  {name}:\n    paths: [{tmp_path}/{name}]\n    {rest}\n" for name, rest in entries.items())
    )
    lines = Coordination(file=file).lines
    assert lines == [
        f"{tmp_path}/a=tcp:host:7000\tmunge",
        f"{tmp_path}/b=tcp:host:7001",
        f"{tmp_path}/c=unix:@c\tuser:990",
    ]
