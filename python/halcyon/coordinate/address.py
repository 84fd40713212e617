"""Where a coordinator listens."""

import re
from dataclasses import dataclass

from halcyon.errors import UsageError

_FORMS = "expected unix:/path/to/socket, unix:@name, tcp:host:port or tcp:[IPv6]:port"
_BETWEEN = re.compile(",(?=unix:|tcp:)")  # paths may have commas, too
_TCP = re.compile(r"(?:\[([^\]]+)\]|([^:\[\]]+)):([0-9]{1,5})")


@dataclass(frozen=True)
class Address:
    """As in coordinators.yaml. `port` is None for Unix sockets, whose `name` is a path, or begins with @."""

    name: str
    port: int | None = None

    def __str__(self) -> str:
        if self.port is None:
            return f"unix:{self.name}"
        return f"tcp:[{self.name}]:{self.port}" if ":" in self.name else f"tcp:{self.name}:{self.port}"


def parse_addresses(text: str) -> list[Address]:
    """Separated by commas. UsageError: one of them is none."""
    return [parse_address(one) for one in _BETWEEN.split(text)]


def parse_address(text: str) -> Address:
    """UsageError: it is none."""
    kind, _, rest = text.partition(":")
    if kind == "unix" and len(rest) > 1 and rest[0] in "/@":
        return Address(rest)
    if kind == "tcp" and (tcp := _TCP.fullmatch(rest)) and int(tcp[3]) < 65536:
        return Address(tcp[1] or tcp[2], int(tcp[3]))
    raise UsageError(f"address {text!r}; {_FORMS}")
