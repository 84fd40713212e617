"""Two nodes, each a network namespace, and the link between them."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import getpid
from pathlib import Path

SERVER = "10.231.77.1"
CLIENT = "10.231.77.2"


@dataclass(frozen=True)
class Nodes:
    """`server` and `client` are names of namespaces."""

    server: str
    client: str

    def cut(self) -> None:
        """Nothing arrives any more, and nobody is told."""
        _ip("-n", self.client, "link", "set", "wire", "down")

    def mend(self) -> None:
        _ip("-n", self.client, "link", "set", "wire", "up")

    def connections(self, port: int) -> int:
        """Of the client to this port of the server, as long as the client believes in them."""
        command = ["ip", "netns", "exec", self.client, "cat", "/proc/net/tcp"]
        table = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[1:]
        established = "01"
        rows = [row.split() for row in table]
        return sum(row[2].endswith(f":{port:04X}") and row[3] == established for row in rows)

    def on_server(self) -> list[str]:
        """Words in front of a command."""
        return ["ip", "netns", "exec", self.server]

    def on_client(self, munge_folder: Path) -> list[str]:
        """Likewise; libmunge finds its daemon in `munge_folder`."""
        script = 'mount -t tmpfs none /run && mkdir /run/munge && mount --bind "$0" /run/munge && exec "$@"'
        return ["ip", "netns", "exec", self.client, "sh", "-c", script, str(munge_folder)]


def are_possible() -> bool:
    """Namespaces can be made here, and entered."""
    name = f"halcyon-try-{getpid()}"
    try:
        _ip("netns", "add", name)
        try:
            _ip("-n", name, "link", "set", "lo", "up")
        finally:
            _ip("netns", "del", name)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


@contextmanager
def two_nodes() -> Iterator[Nodes]:
    nodes = Nodes(f"halcyon-server-{getpid()}", f"halcyon-client-{getpid()}")
    names = (nodes.server, nodes.client)
    try:
        for name in names:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip(
            "-n",
            nodes.server,
            "link",
            "add",
            "name",
            "wire",
            "type",
            "veth",
            "peer",
            "name",
            "wire",
            "netns",
            nodes.client,
        )
        for name, address in zip(names, (SERVER, CLIENT), strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", "wire")
            _ip("-n", name, "link", "set", "wire", "up")
        yield nodes
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def _ip(*words: str) -> None:
    command: Sequence[str] = ["ip", *words]
    subprocess.run(command, check=True, capture_output=True)
