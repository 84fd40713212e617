"""What a test bed is to have, and the names and addresses that follow from it."""

import ipaddress
import json
import re
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Self

from halcyon.errors import UsageError
from halcyon.quantities import parse_bytes

NETWORK = ipaddress.IPv4Network("10.77.0.0/16")
_STORAGE_FROM = 256
"""Addresses of compute hosts count from 1, those of storage hosts from here."""
MOST_HOSTS = 64
"""Of each kind; one machine runs all of them."""
MOST_MOUNTS = 256
"""Each is a process of some 14 MB."""
LINK_BURST_BYTES = 128 << 10
"""Bucket of a link that is no storage's cache: what one wake-up of the kernel's timer sends."""
MOST_BURST_BYTES = (1 << 32) - 1
"""That `tc` takes."""
_MOST_BURST_S = 274
"""In which a bucket fills: the kernel counts this time in units of 64 ns, in 32 bits, and silently drops the rest."""


@dataclass(frozen=True)
class Host:
    """A network namespace with a host name of its own."""

    name: str
    address: str
    in_front: tuple[str, ...] = ()
    """A command in front of everything that is started on this host, such as `unshare --time --monotonic 1000`."""

    @property
    def bridge_end(self) -> str:
        """The other end of its link, a port of the bridge; the bridge is where `halcyon` looks at traffic."""
        return f"to-{self.name}"

    @property
    def link_address(self) -> str:
        """Of its end of the link: locally administered, and the IP address in its last bytes."""
        return "02:00:" + ":".join(f"{byte:02x}" for byte in ipaddress.IPv4Address(self.address).packed)


@dataclass(frozen=True)
class Plan:
    """Hosts, links and file system of a test bed. Rates are in bits/s; 0: a link has no limit."""

    compute: int = 4
    storage: int = 2
    compute_link_bits_per_s: int = 10**9
    storage_link_bits_per_s: int = 4 * 10**8
    burst_bytes: int = LINK_BURST_BYTES
    """Of the buckets of the storage hosts' links: so much passes at once after a pause."""
    mounts: int = 16
    """Of all compute hosts together; each is a client of its own to the servers."""
    brick_bytes: int = 2 << 30
    """Room on each storage host, in memory once it is used."""
    caching_mounts: bool = False
    """Each mount keeps what it has read of sizes, times, names and data for a second, as GlusterFS does unless it is
    told not to. Else nothing is kept, and a write has been at its server when it returns."""
    slurm: bool = False
    slurm_lines: tuple[str, ...] = ()
    """Of slurm.conf, besides the bed's own, such as `Prolog=/path`."""
    in_front: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of hosts by name: see `Host.in_front`."""

    def __post_init__(self) -> None:
        _expect("compute hosts", self.compute, 1, MOST_HOSTS)
        _expect("storage hosts", self.storage, 0, MOST_HOSTS)
        _expect("mounts", self.mounts, 1 if self.storage else 0, MOST_MOUNTS)
        _expect("capacity of a storage host, bytes", self.brick_bytes, 16 << 20, 1 << 44)
        for what, rate in (("compute", self.compute_link_bits_per_s), ("storage", self.storage_link_bits_per_s)):
            if rate:
                _expect(f"{what} link, bits/s", rate, 10**6, 10**11)
        _expect("burst, bytes", self.burst_bytes, 4096, self._most_burst_bytes())

    @property
    def compute_hosts(self) -> list[Host]:
        return [self._host(f"c{i}", i) for i in range(1, self.compute + 1)]

    @property
    def storage_hosts(self) -> list[Host]:
        return [self._host(f"s{i}", _STORAGE_FROM + i) for i in range(1, self.storage + 1)]

    @property
    def hosts(self) -> list[Host]:
        return [*self.compute_hosts, *self.storage_hosts]

    def host(self, name: str) -> Host:
        """UsageError: there is none of this name."""
        for host in self.hosts:
            if host.name == name:
                return host
        raise UsageError(f"no host '{name}'; hosts of this test bed: {', '.join(host.name for host in self.hosts)}")

    def mounts_of(self, host: Host) -> int:
        """Compute hosts take turns."""
        place = [one.name for one in self.compute_hosts].index(host.name)
        return len(range(place, self.mounts if self.storage else 0, self.compute))

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        values = json.loads(text)
        values["slurm_lines"] = tuple(values["slurm_lines"])
        values["in_front"] = {name: tuple(words) for name, words in values["in_front"].items()}
        return cls(**values)

    def _most_burst_bytes(self) -> int:
        rate = self.storage_link_bits_per_s
        return min(MOST_BURST_BYTES, _MOST_BURST_S * rate // 8) if rate else MOST_BURST_BYTES

    def _host(self, name: str, place: int) -> Host:
        return Host(name, str(NETWORK[place]), self.in_front.get(name, ()))


_BITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_TC_BYTES = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}


def parse_rate(text: str, what: str) -> int:
    """`400mbit`, `1gbit`, `none`: bits/s. UsageError: it is no rate; the message begins with `what`."""
    if text == "none":
        return 0
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)(bit|kbit|mbit|gbit)", text.strip().lower(), re.ASCII)
    if parts is None:
        raise UsageError(f"{what}: '{text}' is no rate; expected a number with bit, kbit, mbit or gbit, or 'none'")
    bits_per_s = round(Decimal(parts[1]) * _BITS[parts[2]])
    if not bits_per_s:
        raise UsageError(f"{what}: '{text}' is no rate; expected one above 0, or 'none' for a link without a limit")
    return bits_per_s


def parse_room(text: str, what: str) -> int:
    """`128kb` as `tc` writes it (131,072 bytes), or `8 MiB`: bytes. UsageError: it is no size."""
    parts = re.fullmatch(r"(\d+)(kb|mb|gb|b)", text.strip())
    return int(parts[1]) * _TC_BYTES[parts[2]] if parts else parse_bytes(text, what)


def rate_text(bits_per_s: int) -> str:
    """As `tc` reads it."""
    if not bits_per_s:
        return "none"
    unit = next(name for name in reversed(_BITS) if bits_per_s % _BITS[name] == 0)
    return f"{bits_per_s // _BITS[unit]}{unit}"


def _expect(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"{what}: {value:,}; expected {least:,} to {most:,}")
