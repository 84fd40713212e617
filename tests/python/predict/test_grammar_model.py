"""What a saved model says of the calls that it learnt."""

from itertools import islice
from pathlib import Path

import pytest
from calls_by_hand import CALL_NS, GAP_NS, STACKS, Calls, simulation, with_changing_counts
from model_bytes import join

from halcyon.errors import ConfigError, HalcyonSystemError, UsageError
from halcyon.predict.grammar_names import Names, exact_size, own_frame
from halcyon.predict.learnt import (
    Learnt,
    Phases,
    Rule,
    Run,
    Sizes,
    Symbol,
    model_files,
    read_learnt,
    rule_names,
    rules_from,
)
from halcyon.predict.loops import with_open_counts
from halcyon.predict.rule_costs import rule_costs


def spelt(learnt: Learnt) -> dict[str, str]:
    """Bodies by the names of the rules."""
    return {
        rule.name: " ".join(
            (learnt.rule[run.number].name if run.rule else str(run.number))
            + (f"^{run.exponent:g}" if run.exponent != 1 else "")
            for run in rule.body
        )
        for rule in learnt.rules
    }


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Learnt:
    path = tmp_path_factory.mktemp("models") / "cloud.model"
    return read_learnt(simulation(100).save(path, STACKS))


def test_a_loop_is_one_rule(learnt: Learnt) -> None:
    assert spelt(learnt) == {"S": "1 2 3 A^100", "A": "4 5 6^9 7"}
    assert [rule.uses for rule in learnt.rules] == [1, 100]
    assert learnt.length == 3 + 100 * 12


def test_call_sites_say_what_they_do(learnt: Learnt) -> None:
    site = learnt.symbol[6]
    assert (site.operation, site.function, site.file, site.seen) == ("write", "pwrite64", "out.%06d.dat", 900)
    assert site.stack == STACKS[3]
    assert site.bytes == Sizes(900, 1024, 1024.0, 1024, 1)
    assert site.duration_ns is not None
    assert (site.duration_ns.mean, site.duration_ns.deviation) == (CALL_NS, 0)
    assert learnt.symbol[4].bytes is None, "an open has no size"


def test_transitions_say_when_and_where(learnt: Learnt) -> None:
    within = learnt.transition[6, 6]
    assert within.count == 800
    assert within.gap_ns is not None
    assert within.gap_ns.mean == GAP_NS
    assert within.offsets == [("end of last access", 0)]
    assert learnt.transition[5, 6].offsets == [("end of last access", 2048 - 96)]
    parts = learnt.transition[7, 4].gap_ns
    assert parts is not None
    assert parts.mean == GAP_NS + 500_000_000


def test_the_period_is_that_of_the_steps(learnt: Learnt) -> None:
    phases = learnt.phases
    assert isinstance(phases, Phases)
    assert phases.calls is not None
    assert phases.interval_ns is not None
    assert phases.calls.most == 12
    assert phases.interval_ns.most == 500_000_000 + 12 * (CALL_NS + GAP_NS)


def test_the_start_rule_costs_what_all_calls_cost(learnt: Learnt) -> None:
    costs = rule_costs(learnt)
    whole, step = costs[learnt.rules[0].number], costs[learnt.rules[1].number]
    assert whole.calls == 1203
    assert whole.bytes == pytest.approx(4096 + 100 * (96 + 9 * 1024))
    assert whole.in_calls_ns == pytest.approx(1203 * CALL_NS)
    assert whole.lasts_ns == pytest.approx(1203 * CALL_NS + 1202 * GAP_NS + 100 * 500_000_000)
    assert (step.calls, step.bytes) == (12, 96 + 9 * 1024)
    assert step.lasts_ns == pytest.approx(12 * CALL_NS + 11 * GAP_NS)


def test_rules_nested_deeper_than_python_calls() -> None:
    deep = 5000
    rules = [Rule(n, str(n), (Run(True, n + 1, 1), Run(False, 1, 2)), 1) for n in range(deep)]
    rules.append(Rule(deep, "last", (Run(False, 1, 1), Run(False, 2, 1)), 1))
    learnt = Learnt(Path("deep"), "grammar", 0, 1, 0, 0, [Symbol(1, 1), Symbol(2, 1)], [], rules, None)
    assert rule_costs(learnt)[0].calls == 2 * deep + 2
    assert len(with_open_counts(learnt).rules) == 1


def test_loops_that_differ_in_repetitions_are_one(tmp_path: Path) -> None:
    exact = read_learnt(with_changing_counts(40).save(tmp_path / "m"))
    assert len(exact.rules) > 4
    loops = with_open_counts(exact)
    assert len(loops.rules) == 2
    open_count = next(run for run in loops.rules[1].body if run.least != run.most)
    assert (open_count.least, open_count.most) == (10, 20)
    whole = rule_costs(loops)[loops.rules[0].number]
    assert whole.calls == pytest.approx(exact.length), "with their mean, all calls are there"


def by_hand(*bodies: tuple[Run, ...]) -> Learnt:
    """A grammar of the symbols 1 to 3."""
    rules = [Rule(number, str(number), body, 1) for number, body in enumerate(bodies)]
    return Learnt(Path("hand"), "grammar", 0, 1, 0, 0, [Symbol(n, 1) for n in (1, 2, 3)], [], rules, None)


def test_a_run_that_goes_on_behind_a_rule_is_one() -> None:
    learnt = by_hand((Run(True, 1, 1), Run(False, 2, 3), Run(False, 3, 1)), (Run(False, 1, 1), Run(False, 2, 1)))
    assert [(run.number, run.exponent) for run in with_open_counts(learnt).rules[0].body] == [(1, 1), (2, 4), (3, 1)]


def test_repetitions_are_counted_apart_where_others_stand_around() -> None:
    learnt = by_hand((Run(False, 1, 1), Run(False, 2, 7), Run(False, 3, 1), Run(False, 2, 9), Run(False, 1, 1)))
    counts = [(run.least, run.most) for run in with_open_counts(learnt).rules[0].body if run.number == 2]
    assert counts == [(7, 7), (9, 9)]


def test_a_first_and_last_turn_belong_to_the_loop(tmp_path: Path) -> None:
    loops = with_open_counts(read_learnt(with_changing_counts(40).save(tmp_path / "m")))
    assert [(run.rule, run.exponent) for run in loops.rules[0].body] == [(True, 40)]


def test_rules_are_named_in_the_order_of_their_use() -> None:
    parts = [{"body": [(False, n, 1), (False, 3, 1)], "length": 2, "uses": 2} for n in (1, 2)]
    start = {"body": [(True, 2, 2), (True, 1, 2)], "length": 8, "uses": 1}
    rules = rules_from([start, *parts])
    assert [(rule.name, rule.number) for rule in rules] == [("S", 0), ("A", 2), ("B", 1)]
    names = list(islice(rule_names(), 60))
    assert len(set(names)) == 60
    assert names[18:21] == ["R", "T", "U"]
    assert names[25:28] == ["Z", "AA", "AB"]


def test_sizes_are_exact_where_they_are_whole() -> None:
    sizes = [exact_size(value) for value in (96, 4096, 4100, 1 << 20, 3 << 30)]
    assert sizes == ["96 B", "4 KiB", "4.10 kB", "1 MiB", "3 GiB"]


def test_words_tell_call_sites_apart(tmp_path: Path) -> None:
    calls = Calls()
    for step in range(3):
        calls.opens(1, f"/run/out.{step}")
        calls.writes(2, 0, 4096)
        calls.writes(3, 4096, 4096)  # the same from elsewhere
        calls.writes(4, 9000, 1000 + step)
        calls.closes(5)
    names = Names(read_learnt(calls.save(tmp_path / "m")))
    assert names.symbol(1) == "open out.%d"
    assert names.symbol(2) == "pwrite64 out.%d 4 KiB #2"
    assert names.symbol(3, with_file=False) == "pwrite64 4 KiB #3"
    assert names.symbol(4) == "write out.%d 1.00 kB to 1.00 kB"


def test_the_frame_of_the_application_is_found_behind_libraries() -> None:
    assert own_frame(STACKS[1]) == "cloud+0x1a2b"
    assert own_frame(STACKS[3]) == "cloud+0x1c00"
    assert own_frame(STACKS[4]) == "libc.so.6+0x99", "nothing but libraries"
    assert own_frame("libc.so.6+0x1 liblammps.so.0+0x2") == "liblammps.so.0+0x2"
    assert own_frame("write@write.c:26@libc.so.6 output@out.c:7@cloud") == "output@out.c:7@cloud"
    assert own_frame("") == ""


def test_a_grammar_alone_has_numbers_for_symbols(tmp_path: Path) -> None:
    model = simulation(100).save(tmp_path / "m").read_bytes()
    bare = tmp_path / "bare"
    bare.write_bytes(model[model.rindex(b"HALCGRAM") :])
    learnt = read_learnt(bare)
    assert learnt.kind == "grammar"
    assert spelt(learnt) == {"S": "1 2 3 A^100", "A": "4 5 6^9 7"}
    assert learnt.symbol[6] == Symbol(6, 900)
    assert learnt.transitions == []
    assert learnt.phases is None


def test_names_need_not_be_utf_8(tmp_path: Path) -> None:
    path = Path(str(tmp_path)) / "caf\udce9.model"
    assert read_learnt(simulation(3).save(path)).length == 39
    assert model_files(tmp_path) == [path]


def test_a_model_is_replaced_whole(tmp_path: Path) -> None:
    path = simulation(3).save(tmp_path / "m")
    assert read_learnt(simulation(5).save(path)).length == 63
    assert [other.name for other in tmp_path.iterdir()] == ["m"]
    with pytest.raises(HalcyonSystemError, match="no/such"):
        simulation(3).save(tmp_path / "no/such/m")


def test_damaged_files_are_refused_with_their_byte(tmp_path: Path) -> None:
    whole = simulation(20).save(tmp_path / "m").read_bytes()
    bad = tmp_path / "bad.model"

    def refused(contents: bytes) -> str:
        bad.write_bytes(contents)
        with pytest.raises(ConfigError) as why:
            read_learnt(bad)
        return str(why.value)

    assert refused(whole[:-1]).startswith(f"{bad}: at byte 16: a length of")
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    assert refused(bytes(flipped)).startswith(f"{bad}: at byte 24: the check sum")
    assert "version 9" in refused(whole[:8] + b"\x09" + whole[9:])
    assert refused(b"\x7fELF" + bytes(100)).startswith(f"{bad}: at byte 0: no saved model")
    assert "at byte 0" in refused(b"")
    bare = whole[whole.rindex(b"HALCGRAM") :]
    assert f"{bad}: at byte" in refused(bare[:-3])
    with pytest.raises(HalcyonSystemError, match="Is a directory"):
        read_learnt(tmp_path)


def test_the_thread_with_most_calls_is_taken(tmp_path: Path) -> None:
    few, many = simulation(3).save(tmp_path / "few", STACKS), simulation(50).save(tmp_path / "many", STACKS)
    both = join(tmp_path / "both", few, many, few)
    assert (read_learnt(both).thread, read_learnt(both).length) == (1, 603)
    last = read_learnt(both, 2)
    assert (last.threads, last.length, last.symbol[6].stack) == (3, 39, STACKS[3])
    with pytest.raises(UsageError, match="no thread 3; the file has threads 0 to 2"):
        read_learnt(both, 3)
    with pytest.raises(UsageError, match="no thread -1"):
        read_learnt(both, -1)


def test_there_are_as_many_threads_as_there_are(tmp_path: Path) -> None:
    path = simulation(3).save(tmp_path / "m")
    with pytest.raises(UsageError, match="no thread 1; the file has only thread 0"):
        read_learnt(path, 1)
