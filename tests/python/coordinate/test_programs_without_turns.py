"""Programs that are to take turns by themselves where nobody gives any, or that ask wrongly."""

from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import impatient_agent
from coordinator_process import PATIENT, CoordinatorProcess, wait_until
from turn_programs import Program, RefusedError

Start = Callable[..., CoordinatorProcess]
Run = Callable[..., Program]


def one_of_elsewhere(folder: Path) -> Path:
    config = folder / "elsewhere.yaml"
    config.write_text("halcyon: 1\ncoordinators:\n  other: {paths: [/elsewhere], address: 'unix:/nowhere'}\n")
    return config


def test_without_a_coordinator_nothing_waits_and_the_status_says_why(run: Run, tmp_path: Path) -> None:
    alone = run(None, "A", HALCYON_COORDINATORS_FILE=str(one_of_elsewhere(tmp_path)))
    assert alone.status["coordination"] == "uncoordinated"
    assert "nobody coordinates" in alone.status["reason"]
    assert "/elsewhere" in alone.status["reason"]
    alone.hold()
    assert alone.do("check") is True
    assert alone.status["stage"] == "holding"
    alone.do("release")


def test_a_silent_coordinator_is_not_waited_for(prepare: Start, run: Run, scratch: Path, tmp_path: Path) -> None:
    of = prepare(paths=[str(scratch)])  # it does not run
    a = run(of, "A", **impatient_agent(tmp_path, 200))
    a.hold()
    assert a.status["coordination"] == "silent"
    assert a.status["steps_unasked"] == 1
    a.do("write", file=str(scratch / "a"), mib=2)
    a.do("release")
    assert a.status["bytes_unasked"] >= 2 << 20
    assert a.status["bytes"] == 0
    of.start()

    def goes_in_turn() -> bool:
        before = a.status["steps_unasked"]
        a.hold()
        a.do("release")
        return bool(a.status["steps_unasked"] == before)

    wait_until(goes_in_turn, "turns are given again")


def test_without_an_agent_nothing_waits(prepare: Start, run: Run, scratch: Path) -> None:
    of = prepare(paths=[str(scratch)])
    a = run(of, "A", HALCYON_AGENT="/bin/false")
    assert a.status["coordination"] == "uncoordinated"
    assert "/bin/false ended before it was ready" in a.status["reason"]
    a.hold()


def test_the_status_says_why_a_coordinator_gives_no_turns(
    start: Start, run: Run, scratch: Path, tmp_path: Path
) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    a = run(of, "A", HALCYON_ACCOUNT="a" * 257, **impatient_agent(tmp_path, 200))
    a.hold()
    wait_until(lambda: "register.account: 257 bytes" in a.status["reason"], "the status says why")
    assert a.status["coordination"] == "silent"


def test_a_file_with_more_paths_than_an_agent_has_room_for_is_refused(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "many.yaml"
    paths = [f"/many/{i}" for i in range(9)]
    each = {"one": ", ".join(paths[:8]), "other": paths[8]}
    lines = [f"  {name}: {{paths: [{some}], address: 'unix:/{name}'}}\n" for name, some in each.items()]
    config.write_text("halcyon: 1\ncoordinators:\n" + "".join(lines))
    with pytest.raises(RefusedError, match=r"many\.yaml:4: coordinators\.other\.paths: 9 paths .* expected 8 at most"):
        run(None, "A", HALCYON_COORDINATORS_FILE=str(config))


def test_an_agent_that_was_named_counts_alone(prepare: Start, run: Run, scratch: Path) -> None:
    of = prepare(paths=[str(scratch)])
    a = run(of, "A", HALCYON_AGENT="/nope")
    assert a.status["coordination"] == "uncoordinated"
    assert "no halcyon-agent found; looked for /nope; set HALCYON_AGENT to its path" in a.status["reason"]


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        (["wait"], "Turns.wait: no phase was announced; call Turns.inform first"),
        (["check"], "Turns.check: no phase was announced; call Turns.inform first"),
        (["join"], "Turns.join: no phase was announced; call Turns.inform first"),
        (["inform", "wait", "join"], "Turns.join: the turn is held already"),
        (["release"], "Turns.release: no phase was announced"),
        (["inform", "release", "release"], "Turns.release: no phase was announced"),
        (["complete"], "Turns.complete: nothing is prepared"),
        (["prepare"] * 65, "Turns.prepare: 64 levels are prepared"),
        (["finalize", "inform"], "Turns.inform: the handle is null; call Turns first"),
        (["inform", "in_phase"], "a phase begins while another one is asking"),
    ],
)
def test_misuse_is_named(start: Start, run: Run, scratch: Path, calls: list[str], message: str) -> None:
    a = run(start(paths=[str(scratch)], times=PATIENT), "A")
    *first, last = calls
    for call in first:
        a.do(call)
    with pytest.raises(RefusedError) as caught:
        a.do(last, **({"file": str(scratch / "a"), "mib": 1} if last == "in_phase" else {}))
    assert caught.value.kind == "UsageError"
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"nbytes": -1}, "Turns.prepare: bytes is -1; expected a number from 0"),
        ({"files": -1}, "Turns.prepare: files is -1; expected a number from 0"),
        ({"alone_s": float("nan")}, "Turns.prepare: alone_s is nan; expected a number from 0"),
        ({"period_s": -2}, "Turns.prepare: period_s is -2.0"),
        ({"access": "append"}, "access is 'append'; expected one of write, read, metadata"),
    ],
)
def test_what_makes_no_sense_is_not_prepared(run: Run, tmp_path: Path, known: dict[str, object], message: str) -> None:
    a = run(None, "A", HALCYON_COORDINATORS_FILE=str(one_of_elsewhere(tmp_path)))
    with pytest.raises(RefusedError) as caught:
        a.do("prepare", **known)
    assert caught.value.message.startswith(message)


def test_a_wrong_file_is_refused_and_named(run: Run, prepare: Start, scratch: Path) -> None:
    of = prepare(paths=[str(scratch)], policy="fcsf")
    with pytest.raises(RefusedError, match=r"coordinators\.yaml:\d+: coordinators\.scratch\.policy"):
        run(of, "A")
    of.config.unlink()
    with pytest.raises(RefusedError, match=r"HalcyonSystemError: .*coordinators\.yaml"):
        run(of, "A")


def variables_of_agent(job: str) -> set[str]:
    for process in Path("/proc").glob("[0-9]*/environ"):
        try:
            found = set(process.read_bytes().decode(errors="replace").split("\0"))
        except OSError:
            continue  # it has ended, or is another user's
        if f"HALCYON_AGENT_JOB={job}" in found:
            return found
    return set()


def test_the_agent_is_told_of_the_munged_that_the_named_file_says(prepare: Start, run: Run, scratch: Path) -> None:
    of = prepare(paths=[str(scratch)], munge_socket="/run/other/munge.socket")
    a = run(of, "A")
    wait_until(lambda: variables_of_agent(a.job), "the agent runs")
    assert f"HALCYON_MUNGE_SOCKETS={scratch}=/run/other/munge.socket\n" in variables_of_agent(a.job)
