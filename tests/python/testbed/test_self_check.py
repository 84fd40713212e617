"""The self-check refuses beds on which times say nothing about interference."""

from dataclasses import replace

import pytest
from killed_brick import kill_brick

from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.testbed.bed import raised
from halcyon.testbed.check import Checked, Round, check, two_applications
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

needs_bed = pytest.mark.skipif(bool(unavailable(Plan())), reason=unavailable(Plan()))

GOOD = Round(alone_s=0.7, beside_computing_s=0.71, together_s=6.3, large_s=7.0, overlap_share=0.95, covered=True)
LINK_BYTES_PER_S = 50e6


def checked(*rounds: Round) -> Checked:
    return Checked(list(rounds), small_bytes=33 << 20, large_writers=15, link_bytes_per_s=LINK_BYTES_PER_S)


def test_a_bed_in_order_is_not_refused() -> None:
    assert checked(GOOD, GOOD, GOOD).refusals == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"alone_s": 0.9, "beside_computing_s": 0.9}, "one writer alone reaches 0.769 of its storage link's rate"),
        ({"overlap_share": 0.89}, "storage links carry 0.890 of their rate while both applications write, below 0.9"),
        ({"beside_computing_s": 0.75}, "a writer beside computing keeps 0.933 of its speed, below 0.95"),
        ({"together_s": 4.1}, "slowed down by a factor of 5.9, below 6: weight follows mounts"),
        ({"covered": False}, "the large application ended before the small one in 2 of 3 rounds"),
    ],
)
def test_each_premise_that_fails_is_named(wrong: dict[str, float], words: str) -> None:
    bad = replace(GOOD, **wrong)  # type: ignore[arg-type]
    [refusal] = checked(GOOD, bad, bad).refusals
    assert words in refusal


def test_one_disturbed_round_of_three_does_not_decide() -> None:
    disturbed = replace(GOOD, overlap_share=0.5, together_s=2.0, beside_computing_s=2.0)
    assert checked(GOOD, disturbed, GOOD).refusals == []


@needs_bed
def test_a_bed_whose_storage_links_are_not_the_limit_is_refused() -> None:
    """Compute links of a quarter of the storage links' rate: one writer reaches a quarter of it at most."""
    plan = Plan(compute=2, storage=2, mounts=2, compute_link_bits_per_s=10**8)
    with raised(plan) as bed:
        told = check(bed, 1)
    assert told.alone_share < 0.3
    assert any("another link is the limit" in refusal for refusal in told.refusals)


@needs_bed
def test_a_bed_with_few_mounts_is_refused() -> None:
    with raised(Plan(compute=2, storage=1, mounts=2)) as bed:
        told = check(bed, 1)
    assert any("raise the bed with more --mounts" in refusal for refusal in told.refusals)


@needs_bed
@pytest.mark.parametrize(
    "plan",
    [
        Plan(compute=2, storage=0, mounts=0),
        Plan(compute=2, storage=1, mounts=1),
        Plan(compute=2, storage=1, mounts=2, storage_link_bits_per_s=0),
    ],
)
def test_a_bed_that_cannot_show_interference_is_refused_before_anything_runs(plan: Plan) -> None:
    with raised(plan) as bed, pytest.raises(UsageError, match="needs a bed with --storage, a --storage-link, and 2 or"):
        two_applications(bed)


@needs_bed
def test_one_measurement_at_a_time() -> None:
    with raised(Plan(compute=2, storage=1, mounts=2)) as bed:
        with bed.measuring(), pytest.raises(UsageError, match="another measurement runs on this test bed"):
            check(bed, 1)
        with bed.measuring():
            pass


@needs_bed
def test_a_bed_that_lost_a_daemon_is_not_measured() -> None:
    with raised(Plan(compute=2, storage=1, mounts=2)) as bed:
        kill_brick(bed, "s1")
        with pytest.raises(
            HalcyonSystemError, match="the test bed is not whole: brick s1 has ended: signal 9; raise it"
        ):
            check(bed, 1)
