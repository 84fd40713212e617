"""Calls are numbered and nested by their times, as one would by looking at each pair."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halcyon.observe.readers.nesting import number_calls

Call = tuple[int, int, int, int, int]  # process, thread, start, end, depth


@st.composite
def nested_calls(draw: st.DrawFn) -> list[Call]:
    """Calls of some threads; inner ones begin and end within outer ones, whose level is above."""
    calls: list[Call] = []

    def grow(process: int, thread: int, start: int, end: int, depth: int) -> None:
        calls.append((process, thread, start, end, depth))
        at = start
        for _ in range(draw(st.integers(0, 2)) if depth < 3 else 0):
            begin = at + draw(st.integers(0, 2))
            finish = begin + draw(st.integers(1, 4))
            if finish <= end:
                grow(process, thread, begin, finish, draw(st.integers(depth + 1, 3)))
                at = finish

    for process in range(draw(st.integers(1, 2))):
        for thread in draw(st.sampled_from([[40], [40, 7]])):
            at = draw(st.integers(0, 3))
            for _ in range(draw(st.integers(1, 3))):
                end = at + draw(st.integers(1, 12))
                grow(process, thread, at, end, draw(st.integers(0, 3)))
                at = end + draw(st.integers(0, 2))
    return draw(st.permutations(calls))


def numbered(calls: list[Call]) -> list[tuple[int, int, int]]:
    process, thread, start, end, depth = (np.array(column, np.int64) for column in zip(*calls, strict=True))
    found = number_calls(process, thread, start, end, depth)
    return list(zip(found.thread.tolist(), found.number.tolist(), found.parent.tolist(), strict=True))


@given(calls=nested_calls())
def test_the_parent_is_the_smallest_call_around_from_a_level_above(calls: list[Call]) -> None:
    found = numbered(calls)
    for (process, thread, start, end, depth), (_, _, parent) in zip(calls, found, strict=True):
        around = [
            (other[3] - other[2], -other[4], found[at][1])
            for at, other in enumerate(calls)
            if other[:2] == (process, thread) and other[2] <= start and end <= other[3] and other[4] < depth
        ]
        assert parent == (min(around)[2] if around else 0)


@given(calls=nested_calls())
def test_numbers_follow_beginnings_and_threads_their_first_calls(calls: list[Call]) -> None:
    found = numbered(calls)
    for process in {call[0] for call in calls}:
        first: dict[int, int] = {}
        for call, (index, _, _) in zip(calls, found, strict=True):
            if call[0] == process:
                first[index] = min(first.get(index, call[2]), call[2])
        assert sorted(first) == list(range(len(first)))
        assert [first[index] for index in sorted(first)] == sorted(first.values())
        for index in first:
            own = sorted(
                (number, call[2])
                for call, (at, number, _) in zip(calls, found, strict=True)
                if (call[0], at) == (process, index)
            )
            assert [number for number, _ in own] == list(range(1, len(own) + 1))
            assert [start for _, start in own] == sorted(start for _, start in own)


def test_no_calls_have_no_numbers() -> None:
    nothing = np.array([], np.int64)
    found = number_calls(nothing, nothing, nothing, nothing, nothing)
    assert len(found.number) == len(found.parent) == len(found.thread) == 0


def test_calls_of_one_level_do_not_call_one_another() -> None:
    found = numbered([(0, 0, 0, 10, 3), (0, 0, 2, 5, 3), (0, 0, 20, 30, 1), (0, 0, 21, 25, 3)])
    assert [parent for _, _, parent in found] == [0, 0, 0, 3]
