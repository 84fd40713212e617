"""Two daemons of one file system, elected by a real etcd: whatever is killed or stopped at whatever step, nobody has
the turn beside another one, and turns go on."""

import base64
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinator_process import LIMIT_S, CoordinatorProcess, wait_until
from elected_pair import TIMES, Pair, gauge, leads
from etcd_process import EtcdProcess
from scripted_agents import Agent
from wandering_agents import WanderingAgent, check_that_no_turn_was_given_twice, roam

from halcyon.cli import main
from halcyon.coordinate.configuration import find_program

Prepare = Callable[..., CoordinatorProcess]


def registered(*agents: WanderingAgent) -> Callable[[], bool]:
    return lambda: all(one.of_type("registered") for one in agents)


def holder_and_waiter(pair: Pair) -> list[WanderingAgent]:
    """A has the turn, B waits for it."""
    agents = [WanderingAgent(pair.daemons, job) for job in ("A", "B")]
    roam(agents, registered(*agents), "both are registered")
    a, b = agents
    a.begin()
    roam(agents, lambda: a.may_move, "A has the turn")
    b.begin()
    roam(agents, lambda: b.of_type("wait"), "B is told to wait")
    return agents


def hears_nothing(agent: WanderingAgent) -> bool:
    """And does not move any more."""
    return agent.silences > 0 and not agent.may_move


def turns_go_on(agents: list[WanderingAgent], daemon: CoordinatorProcess) -> None:
    """Each has a turn that `daemon` gives, then hands it back."""
    epoch = 0

    def has_one_of_a_new_term(one: WanderingAgent) -> bool:
        return one.may_move and one.of is daemon and one.epoch >= epoch

    roam(agents, lambda: leads(daemon), "the daemon leads")
    epoch = int(gauge(daemon, "epoch"))
    left = {one.job: one for one in agents}
    for one in agents:
        if one.phase_over:
            one.begin()
    while left:
        roam(agents, lambda: any(map(has_one_of_a_new_term, left.values())), f"one of {list(left)} has the turn")
        one = next(filter(has_one_of_a_new_term, left.values()))
        one.release()
        del left[one.job]
    check_that_no_turn_was_given_twice(agents)


def test_one_of_two_daemons_leads_and_the_other_says_where(pair: Callable[..., Pair]) -> None:
    two = pair().start()
    wait_until(lambda: f"{two.first.address} leads" in two.second.log.read_text(), "the second one knows it")
    assert not leads(two.second)
    in_vain = Agent(two.second, "A")
    select.select([in_vain.connection], [], [], LIMIT_S)
    in_vain.hear()
    assert in_vain.heard[0]["type"] == "refused"
    assert in_vain.heard[0]["reason"] == f"this daemon stands by: the coordinator is at {two.first.address}"
    assert two.second.count("sent_on") >= 1


ASKING = """
import contextlib, os, select, socket, sys, time
path, done = sys.argv[1:]
line = b'{"type": "register", "version": 1, "job": "%d", "processes": 1, "nodes": 1, "node": "n", '
line += b'"secret": "0123456789abcdef"}\\n'
waiting = {}
told = unanswered = 0
while waiting or not os.path.exists(done):
    now = time.monotonic()
    if not os.path.exists(done) and len(waiting) < 50:
        one = socket.socket(socket.AF_UNIX)
        one.connect(path)
        with contextlib.suppress(BrokenPipeError):  # it was answered and closed before
            one.sendall(line % told)
        told += 1
        waiting[one] = time.monotonic()
    for one in select.select(list(waiting), [], [], 0)[0]:
        one.recv(1 << 16)
        one.close()
        del waiting[one]
    for one in [one for one, since in waiting.items() if now - since > 10]:
        unanswered += 1
        one.close()
        del waiting[one]
print(told, unanswered)
"""


def test_who_comes_while_a_daemon_takes_the_lead_is_answered(pair: Callable[..., Pair], tmp_path: Path) -> None:
    two = pair().start()
    done = tmp_path / "done"
    words = [sys.executable, "-c", ASKING, str(two.second.socket), str(done)]
    asking = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    wait_until(lambda: two.second.count("sent_on") > 100, "they are sent on")
    assert two.first.end() == 0
    wait_until(lambda: leads(two.second), "the second one leads")
    done.touch()
    for one in asking:
        told, unanswered = one.communicate(timeout=LIMIT_S)[0].split()
        assert int(told) > 0
        assert unanswered == "0"


def test_operators_find_the_daemon_that_leads(pair: Callable[..., Pair], capfd: pytest.CaptureFixture[str]) -> None:
    two = pair().start()
    for addresses in (two.daemons, two.daemons[::-1]):
        given = ",".join(str(one.address) for one in addresses)
        assert main(["coordinator", "top", "--address", given]) == 0
        assert "policy fcfs" in capfd.readouterr().out
    assert main(["coordinator", "top", "--config", str(two.second.config)]) == 0
    assert main(["coordinator", "top", "--address", str(two.second.address)]) != 0
    assert "this daemon stands by" in capfd.readouterr().err


def before_the_grant(a: WanderingAgent, b: WanderingAgent, pair: Pair) -> None:
    a.release()
    roam([a, b], lambda: b.may_move, "B has the turn")
    pair.first.signal(signal.SIGSTOP)
    a.begin()  # the daemon never reads it


def behind_the_grant(a: WanderingAgent, b: WanderingAgent, pair: Pair) -> None:
    """A has it already."""


def behind_a_grant_that_nobody_read(a: WanderingAgent, b: WanderingAgent, pair: Pair) -> None:
    before = pair.first.count("grants")
    a.release()
    wait_until(lambda: pair.first.count("grants") > before, "B's grant was sent")


def at_a_renewal(a: WanderingAgent, b: WanderingAgent, pair: Pair) -> None:
    renewals = len(a.of_type("grant"))
    roam([a, b], lambda: len(a.of_type("grant")) > renewals, "A's lease is renewed")


def at_the_release(a: WanderingAgent, b: WanderingAgent, pair: Pair) -> None:
    pair.first.signal(signal.SIGSTOP)
    a.release()


STEPS = [before_the_grant, behind_the_grant, behind_a_grant_that_nobody_read, at_a_renewal, at_the_release]


@pytest.mark.parametrize("step", STEPS)
def test_turns_go_on_and_none_is_given_twice_when_the_leader_dies(
    pair: Callable[..., Pair], step: Callable[[WanderingAgent, WanderingAgent, Pair], None]
) -> None:
    two = pair(lease="3 s").start()
    agents = holder_and_waiter(two)
    step(agents[0], agents[1], two)
    two.first.kill()
    turns_go_on(agents, two.second)


@pytest.mark.parametrize("said_before", ["nothing", "stopping", "stopped"])
def test_a_leader_that_dies_while_it_stops_somebody_leaves_no_turn_behind(
    pair: Callable[..., Pair], said_before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = pair(policy="interrupt", lease="3 s").start()
    agents = [WanderingAgent(two.daemons, job) for job in ("A", "B")]
    a, b = agents
    roam(agents, registered(a, b), "both are registered")
    a.begin()
    roam(agents, lambda: a.may_move, "A has the turn")
    if said_before == "nothing":
        monkeypatch.setattr(a, "recalled", lambda message: None)
    b.begin()
    kind = {"nothing": "recall", "stopping": "recall", "stopped": "stop"}[said_before]
    roam(agents, lambda: a.of_type(kind), f"A hears {kind}")
    monkeypatch.undo()
    two.first.kill()
    turns_go_on(agents, two.second)


def test_a_leader_that_was_stopped_past_its_lease_gives_no_turn_when_it_wakes(pair: Callable[..., Pair]) -> None:
    two = pair(lease="5 s").start()
    agents = holder_and_waiter(two)
    deaf = Agent(two.first, "C")  # stays with the first daemon, whatever it hears
    deaf.begin()
    roam(agents, lambda: two.first.top().load.applications == 3, "C is registered")
    lost = two.first.count("lost_terms")
    two.first.signal(signal.SIGSTOP)
    turns_go_on(agents, two.second)
    before = two.second.count("grants")
    agents[0].begin()
    roam(agents, lambda: agents[0].may_move, "A has the turn")
    two.first.signal(signal.SIGCONT)
    wait_until(lambda: not leads(two.first), "the first daemon stands by")
    while not deaf.closed:
        deaf.hear()
    assert not deaf.of_type("grant")
    assert two.first.count("lost_terms") == lost + 1
    renewed = len(agents[0].of_type("grant"))
    roam(agents, lambda: len(agents[0].of_type("grant")) > renewed + 1, "A's lease is renewed")
    assert two.second.count("grants") == before + 1
    check_that_no_turn_was_given_twice(agents)


def test_a_leader_steps_down_when_etcd_dies_and_leads_again_when_it_is_back(
    pair: Callable[..., Pair], etcd: EtcdProcess
) -> None:
    two = pair(lease="5 s").start()
    agents = holder_and_waiter(two)
    epoch = agents[0].epoch
    lost = two.first.count("lost_terms")
    etcd.kill()
    roam(agents, lambda: not leads(two.first), "the first daemon steps down")
    assert two.first.count("lost_terms") == lost + 1
    assert not leads(two.second)
    roam(agents, lambda: all(map(hears_nothing, agents)), "the agents hear nothing any more")
    etcd.start()
    roam(agents, lambda: any(map(leads, two.daemons)), "one of them leads again")
    turns_go_on(agents, next(filter(leads, two.daemons)))
    assert agents[0].epoch > epoch


def test_a_leader_is_not_delayed_by_an_etcd_that_hangs_and_steps_down(
    pair: Callable[..., Pair], etcd: EtcdProcess
) -> None:
    two = pair(lease="10 s").start()
    agents = holder_and_waiter(two)
    a, b = agents
    epoch = gauge(two.first, "epoch")
    etcd.signal(signal.SIGSTOP)
    a.release()
    roam(agents, lambda: b.may_move, "B has the turn")
    assert b.epoch == epoch
    roam(agents, lambda: not leads(two.first), "the first daemon steps down")
    roam(agents, lambda: all(map(hears_nothing, agents)), "its turns are void")
    etcd.signal(signal.SIGCONT)
    roam(agents, lambda: any(map(leads, two.daemons)), "one of them leads again")
    turns_go_on(agents, next(filter(leads, two.daemons)))


def test_a_leader_that_is_ended_hands_the_lead_over_and_the_holder_keeps_its_turn(pair: Callable[..., Pair]) -> None:
    two = pair().start()
    agents = holder_and_waiter(two)
    a, b = agents
    lease, epoch = a.lease, a.epoch
    two.configure(times=TIMES | {"relearn": "5 s"})
    two.second.signal(signal.SIGHUP)
    roam(agents, lambda: two.second.count("reloads") == 1, "the second one will wait for A that long")
    assert two.first.end() == 0
    roam(agents, lambda: a.may_move and a.epoch > epoch, "A goes on")
    assert a.lease == lease
    assert a.of is two.second
    roam(agents, lambda: b.of is two.second and b.of_type("wait"), "B waits there")
    assert not b.spans
    turns_go_on(agents, two.second)


def test_a_turn_that_nobody_shows_to_the_next_leader_is_over_before_another_one_begins(
    pair: Callable[..., Pair],
) -> None:
    two = pair().start()
    agents = holder_and_waiter(two)
    a, b = agents
    assert two.first.end() == 0
    roam([b], lambda: b.may_move, "B has the turn, of which A hears nothing")
    assert b.of is two.second
    roam(agents, lambda: not a.may_move, "A notices the silence")
    check_that_no_turn_was_given_twice(agents)


def test_another_policy_begins_another_term(pair: Callable[..., Pair]) -> None:
    two = pair().start()
    agents = holder_and_waiter(two)
    epoch = agents[0].epoch
    two.configure(policy="fair-share")
    for one in two.daemons:
        one.signal(signal.SIGHUP)
    roam(agents, lambda: agents[0].epoch > epoch, "another term has begun")
    assert agents[0].of.top().load.rule == "fair-share"


def test_a_key_that_somebody_removes_ends_the_term(pair: Callable[..., Pair], etcd: EtcdProcess) -> None:
    two = pair(lease="10 s").start()
    agents = holder_and_waiter(two)
    epoch = agents[0].epoch
    key = base64.b64encode(b"/halcyon/coordinators/scratch/leader").decode()
    assert etcd.ask("/v3/kv/deleterange", {"key": key})["deleted"] == "1"
    roam(agents, lambda: agents[0].epoch > epoch, "another term has begun")
    assert two.first.count("lost_terms") == 1
    check_that_no_turn_was_given_twice(agents)


def test_epochs_at_etcd_rise_whatever_the_clocks_say(pair: Callable[..., Pair], etcd: EtcdProcess) -> None:
    key = base64.b64encode(b"/halcyon/coordinators/scratch/epoch").decode()
    etcd.ask("/v3/kv/put", {"key": key, "value": base64.b64encode(b"4000000000").decode()})
    two = pair().start()
    assert gauge(two.first, "epoch") == 4_000_000_001


def test_daemons_wait_for_an_etcd_that_does_not_answer(pair: Callable[..., Pair], etcd: EtcdProcess) -> None:
    two = pair(lease="3 s")
    etcd.kill()
    two.first.start()
    wait_until(lambda: "etcd cannot be asked: http://127.0.0.1" in two.first.log.read_text(), "it says so")
    in_vain = Agent(two.first, "A")
    select.select([in_vain.connection], [], [], LIMIT_S)
    in_vain.hear()
    assert in_vain.heard[0]["reason"] == "this daemon stands by: no daemon leads at present; try again"
    etcd.start()
    wait_until(lambda: leads(two.first), "it leads")


def test_several_addresses_need_an_election_and_a_name_of_ones_own(prepare: Prepare) -> None:
    of = prepare()
    two = [f"unix:{of.folder}/a", f"unix:{of.folder}/b"]

    def refused(**settings: object) -> str:
        of.configure(**settings)
        done = subprocess.run([find_program(), "--config", of.config], capture_output=True, text=True, check=False)
        assert done.returncode != 0
        return done.stderr

    elect = {"etcd": ["http://127.0.0.1:2379"]}
    assert "address: 2 addresses, but nobody elects among their daemons; add 'elect'" in refused(address=two)
    assert "--address says which one is this daemon's" in refused(address=two, elect=elect)
    assert "address[1]: " in refused(address=[two[0], two[0]], elect=elect)
    assert "etcd keeps the epochs" in refused(address=two, elect=elect, epoch_file="/tmp/epoch")
    assert "expected the URL of an etcd server" in refused(address=two, elect={"etcd": ["login1:2379"]})
    assert "expected a duration from 3 s to 60 s" in refused(address=two, elect=elect | {"lease": "1 s"})
