"""What each server was asked for."""

import random

import pytest
from observe.analysis.conftest import Ask
from observe.analysis.random_trace import random_trace
from observe.synthetic import MIB, Trace

from halcyon.observe.analysis.servers import share_bytes


@pytest.mark.parametrize("seed", range(20))
def test_bytes_are_dealt_out_as_byte_by_byte(seed: int) -> None:
    chance = random.Random(seed)
    stripe, count = chance.randrange(1, 8), chance.randrange(1, 5)
    offset, size = chance.randrange(100), chance.randrange(1, 120)
    touched = (offset % stripe + size - 1) // stripe + 1
    front = size if touched == 1 else stripe - offset % stripe
    back = 0 if touched == 1 else (offset % stripe + size - 1) % stripe + 1
    found = share_bytes(offset // stripe % count, touched, front, back, stripe, count).tolist()
    slow = [0] * count
    for byte in range(offset, offset + size):
        slow[byte // stripe % count] += 1
    assert found == slow


@pytest.mark.parametrize("seed", range(3))
def test_loads_are_those_of_an_obvious_implementation(ask: Ask, seed: int) -> None:
    trace = random_trace(seed)
    found = ask(trace).servers
    width = round(found.bin_s * 1e9)
    slow: dict[tuple[str, str, int], int] = {}
    for call in trace.calls:
        if call.level == "mpiio" or not call.moved or call.file is None or call.offset is None:
            continue
        names = trace.files[call.file]["servers"]
        stripe = trace.files[call.file]["stripe_bytes"] or 1 << 60
        assert isinstance(names, list)
        assert isinstance(stripe, int)
        for block in range(call.offset, call.offset + call.moved, 4):  # all sizes here are multiples of 4
            key = (names[block // stripe % len(names)], call.kind, call.start_ns // width)
            slow[key] = slow.get(key, 0) + 4
    for server in found.servers:
        for kind, bins in [("read", server.read), ("write", server.written)]:
            for step, value in enumerate(bins):
                assert value == slow.get((server.name, kind, step), 0)
    assert found.unknown_bytes == 0


def test_imbalance_is_the_busiest_over_the_mean(ask: Ask) -> None:
    trace = Trace(1)
    for number, server in enumerate(["a", "a", "b"]):
        trace.write(0, trace.file(f"/scratch/{number}", servers=[server]), 0, MIB, number * 10, 5)
    found = ask(trace).servers
    assert [(one.name, one.bytes, one.files) for one in found.servers] == [("a", 2 * MIB, 2), ("b", MIB, 1)]
    assert found.imbalance == pytest.approx(2 / 1.5)
    assert found.servers[0].bandwidth_per_call == pytest.approx(2 * MIB / 0.010)


def test_files_without_a_layout_are_counted_apart(ask: Ask) -> None:
    trace = Trace(1)
    trace.write(0, trace.file("/scratch/known", servers=["a"]), 0, MIB, 0, 5)
    trace.write(0, trace.file("/scratch/unknown"), 0, 3 * MIB, 10, 5)
    found = ask(trace).servers
    assert found.unknown_bytes == 3 * MIB
    assert found.servers[0].bytes == MIB


def test_transfers_of_unknown_place_count_only_where_one_server_has_the_whole_file(ask: Ask) -> None:
    trace = Trace(1)
    striped = trace.file("/scratch/striped", stripe_bytes=MIB, servers=["a", "b"])
    whole = trace.file("/scratch/whole", servers=["c"])
    for file in (striped, whole):
        trace.add(0, "posix", "write", "write", 10 * file, 5, file=file, bytes=MIB, moved=MIB)
    found = ask(trace).servers
    assert {one.name: one.bytes for one in found.servers} == {"a": 0, "b": 0, "c": MIB}
    assert found.unknown_bytes == MIB
