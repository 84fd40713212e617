"""What is asked of a test bed, and what follows from it."""

import pytest

from halcyon.errors import UsageError
from halcyon.testbed import gluster, network, slurm
from halcyon.testbed.plan import Plan, parse_rate, parse_room, rate_text


@pytest.mark.parametrize(
    ("text", "bits_per_s"), [("400mbit", 4 * 10**8), ("1gbit", 10**9), ("2.5gbit", 25 * 10**8), ("none", 0)]
)
def test_rates_are_read_as_tc_reads_them(text: str, bits_per_s: int) -> None:
    assert parse_rate(text, "--compute-link") == bits_per_s
    assert parse_rate(rate_text(bits_per_s), "--compute-link") == bits_per_s


@pytest.mark.parametrize("text", ["", "400", "400mb", "fast", "-1gbit", "1 gbit", "٤mbit"])
def test_other_words_are_no_rate(text: str) -> None:
    with pytest.raises(UsageError, match=r"--storage-link: .* is no rate; expected a number with bit, kbit, mbit"):
        parse_rate(text, "--storage-link")


@pytest.mark.parametrize("text", ["0mbit", "0.4bit", "0.000gbit"])
def test_a_rate_of_0_is_no_link_without_a_limit(text: str) -> None:
    with pytest.raises(UsageError, match=r"--storage-link: .* is no rate; expected one above 0, or 'none'"):
        parse_rate(text, "--storage-link")


def test_a_rate_beyond_all_numbers_is_out_of_bounds() -> None:
    with pytest.raises(UsageError, match="storage link, bits/s: 10,000,"):
        Plan(storage_link_bits_per_s=parse_rate("9" * 400 + "gbit", "--storage-link"))


@pytest.mark.parametrize(("text", "size"), [("128kb", 131_072), ("2mb", 2 << 20), ("8 MiB", 8 << 20), ("1kB", 1000)])
def test_sizes_are_read_as_tc_and_as_halcyon_read_them(text: str, size: int) -> None:
    assert parse_room(text, "--burst") == size


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"compute": 0}, "compute hosts: 0; expected 1 to 64"),
        ({"compute": 65}, "compute hosts: 65; expected 1 to 64"),
        ({"storage": -1}, "storage hosts: -1; expected 0 to 64"),
        ({"mounts": 0}, "mounts: 0; expected 1 to 256"),
        ({"mounts": 257}, "mounts: 257; expected 1 to 256"),
        ({"burst_bytes": 1}, "burst, bytes: 1; expected 4,096 to"),
        ({"burst_bytes": 1 << 32}, "burst, bytes: 4,294,967,296; expected 4,096 to 4,294,967,295"),
        (
            {"burst_bytes": 1 << 30, "storage_link_bits_per_s": 10**7},
            "burst, bytes: 1,073,741,824; expected 4,096 to 342,500,000",
        ),
        ({"brick_bytes": 1}, "capacity of a storage host, bytes: 1; expected 16,777,216 to"),
        ({"storage_link_bits_per_s": 10}, "storage link, bits/s: 10; expected 1,000,000 to"),
    ],
)
def test_a_plan_out_of_bounds_is_refused(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Plan(**wrong)  # type: ignore[arg-type]


def test_compute_hosts_take_turns_at_mounts() -> None:
    plan = Plan(compute=3, mounts=8)
    assert [plan.mounts_of(host) for host in plan.compute_hosts] == [3, 3, 2]


def test_without_storage_there_are_no_mounts() -> None:
    plan = Plan(compute=2, storage=0, mounts=0)
    assert [plan.mounts_of(host) for host in plan.compute_hosts] == [0, 0]


def test_no_two_hosts_share_a_name_or_an_address() -> None:
    hosts = Plan(compute=64, storage=64, mounts=256).hosts
    assert len({host.name for host in hosts}) == len({host.address for host in hosts}) == 128
    assert len({host.link_address for host in hosts}) == 128
    assert all(len(host.bridge_end) <= 15 for host in hosts), "the kernel's limit of an interface's name"


def test_an_unknown_host_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no host 'c3'; hosts of this test bed: c1, c2, s1"):
        Plan(compute=2, storage=1).host("c3")


def test_a_plan_survives_its_text() -> None:
    plan = Plan(compute=3, slurm=True, slurm_lines=("Prolog=/p",), in_front={"c2": ("unshare", "--time")})
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.host("c2").in_front == ("unshare", "--time")


def test_only_storage_links_hold_a_phase() -> None:
    plan = Plan(compute=1, storage=1, burst_bytes=48 << 20)
    limits = dict(network.limit(plan))
    assert "burst 131072b" in limits["c1"]
    assert "burst 50331648b" in limits["s1"]
    assert [line.split()[3] for line in limits[None].splitlines()] == ["to-c1", "to-s1"]


def test_links_without_a_limit_have_no_bucket() -> None:
    plan = Plan(compute=1, storage=1, compute_link_bits_per_s=0)
    assert [name for name, lines in network.limit(plan) if lines] == [None, "s1"]


def test_a_client_knows_every_server() -> None:
    plan = Plan(storage=3)
    text = gluster.client_volume(plan)
    assert text.count("type protocol/client") == 3
    assert "subvolumes s1 s2 s3" in text
    for host in plan.storage_hosts:
        assert f"remote-host {host.address}" in text


def test_lines_of_the_user_stand_behind_those_of_the_bed() -> None:
    plan = Plan(slurm=True, slurm_lines=("Prolog=/p", "Epilog=/e"))
    assert slurm.configuration(plan) == slurm.configuration(Plan(slurm=True)) + "Prolog=/p\nEpilog=/e\n"
