"""The test bed of a study, by what differs from one study to another."""

from halcyon.testbed.plan import Plan

MBIT = 10**6


def study_bed(
    compute: int, mounts_each: int, compute_link: int = 1000, storage_link: int = 200, storage: int = 2
) -> Plan:
    """Links in Mbit/s."""
    return Plan(
        compute=compute, storage=storage, mounts=compute * mounts_each, compute_link_bits_per_s=compute_link * MBIT,
        storage_link_bits_per_s=storage_link * MBIT,
    )  # fmt: skip
