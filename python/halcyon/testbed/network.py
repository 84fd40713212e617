"""Hosts and links of a test bed, as commands of `ip` and `tc`. Inside the bed's own namespaces."""

from halcyon.testbed.place import NETNS, UTS
from halcyon.testbed.plan import LINK_BURST_BYTES, NETWORK, Host, Plan

BRIDGE = "switch"
_QUEUE_BYTES = 64 << 20
"""That may wait at an empty bucket: more than all mounts have on their way. Nothing is dropped, as on the lossless
networks of clusters; a drop could stop one connection for seconds while others go on."""


def make_host(host: Host) -> list[str]:
    """Its namespaces, with the loopback interface up."""
    script = 'hostname "$0" && ip link set lo up'
    return ["unshare", f"--net={NETNS / host.name}", f"--uts={UTS / host.name}", "sh", "-c", script, host.name]


def names_file(plan: Plan) -> str:
    """In the place of /etc/hosts."""
    return "127.0.0.1 localhost\n" + "".join(f"{host.address} {host.name}\n" for host in plan.hosts)


def join(plan: Plan) -> str:
    """For `ip -batch`: a bridge, and a link from each host to it."""
    lines = ["link set lo up", f"link add {BRIDGE} type bridge", f"link set {BRIDGE} up"]
    for host in plan.hosts:
        lines += [
            f"link add {host.bridge_end} type veth peer name eth0 address {host.link_address} netns {host.name}",
            f"link set {host.bridge_end} master {BRIDGE}",
            f"link set {host.bridge_end} up",
        ]
    return "\n".join([*lines, ""])


def address(plan: Plan, host: Host) -> str:
    """For `ip -batch` on the host. It knows the others for good: what hosts learn of one another lies in one table of
    the kernel's, which holds 1,024 neighbours of all hosts unless told otherwise."""
    lines = [f"addr add {host.address}/{NETWORK.prefixlen} dev eth0", "link set eth0 up"]
    lines += [
        f"neigh add {other.address} lladdr {other.link_address} dev eth0 nud permanent"
        for other in plan.hosts
        if other != host
    ]
    return "\n".join([*lines, ""])


def limit(plan: Plan) -> list[tuple[str | None, str]]:
    """(host or None for the bridge's side, lines for `tc -batch`) that limit both directions of each link."""
    compute = (plan.compute_link_bits_per_s, LINK_BURST_BYTES)
    storage = (plan.storage_link_bits_per_s, plan.burst_bytes)
    links = [*((host, *compute) for host in plan.compute_hosts), *((host, *storage) for host in plan.storage_hosts)]
    limited = [(host, _bucket(rate, burst)) for host, rate, burst in links if rate]
    bridge = "".join(f"qdisc add dev {host.bridge_end} {bucket}" for host, bucket in limited)
    return [(None, bridge), *((host.name, f"qdisc add dev eth0 {bucket}") for host, bucket in limited)]


def _bucket(bits_per_s: int, burst_bytes: int) -> str:
    return f"root tbf rate {bits_per_s}bit burst {burst_bytes}b limit {_QUEUE_BYTES}b\n"
