"""GlusterFS without its management daemon: volume files and commands of bricks and mounts."""

from pathlib import Path

from halcyon.testbed.place import BRICKS, HOME, LOGS, mount_point
from halcyon.testbed.plan import Host, Plan

PORT = 24009
_DISTRIBUTE = "dht"


def brick_volume(host: Host) -> str:
    """Of a storage host: its folder, served over TCP."""
    return _translators(
        ("brick", "storage/posix", {"directory": str(BRICKS / host.name)}, []),
        ("locks", "features/locks", {}, ["brick"]),
        ("threads", "performance/io-threads", {}, ["locks"]),
        (host.name, "debug/io-stats", {}, ["threads"]),
        (
            "server",
            "protocol/server",
            {
                "transport-type": "tcp",
                "transport.socket.bind-address": host.address,
                "transport.socket.listen-port": str(PORT),
                f"auth.addr.{host.name}.allow": "*",
            },
            [host.name],
        ),
    )


def client_volume(plan: Plan) -> str:
    """Of a mount: files spread over the storage hosts."""
    clients = [
        (
            host.name,
            "protocol/client",
            {
                "transport-type": "tcp",
                "remote-host": host.address,
                "remote-port": str(PORT),
                "remote-subvolume": host.name,
            },
            list[str](),
        )
        for host in plan.storage_hosts
    ]
    return _translators(*clients, (_DISTRIBUTE, "cluster/distribute", {}, [host.name for host in plan.storage_hosts]))


def name_on(path: Path, server: str, plan: Plan) -> Path:
    """Creating a file by this name makes `path`, on this server. Where there is but one, GlusterFS takes such a name as
    it is."""
    return path.with_name(f"{path.name}@{_DISTRIBUTE}:{server}") if plan.storage > 1 else path


def brick_file(host: Host) -> Path:
    return HOME / f"{host.name}.vol"


CLIENT_FILE = HOME / "client.vol"


def serve(host: Host) -> list[str]:
    return [
        "glusterfsd", "-N", "-f", str(brick_file(host)), "-p", str(HOME / f"{host.name}.pid"),
        "-l", str(LOGS / f"brick-{host.name}.log"),
    ]  # fmt: skip


def mount(host: Host, place: int, plan: Plan) -> list[str]:
    kept = [] if plan.caching_mounts else ["--direct-io-mode=enable", "--attribute-timeout=0", "--entry-timeout=0"]
    log = str(LOGS / f"mount-{host.name}-{place}.log")
    return ["glusterfs", "-N", "-f", str(CLIENT_FILE), *kept, "-l", log, str(mount_point(host.name, place))]


def _translators(*each: tuple[str, str, dict[str, str], list[str]]) -> str:
    return "\n".join(_translator(*one) for one in each)


def _translator(name: str, kind: str, options: dict[str, str], below: list[str]) -> str:
    lines = [f"volume {name}", f"  type {kind}", *(f"  option {key} {value}" for key, value in options.items())]
    if below:
        lines.append(f"  subvolumes {' '.join(below)}")
    return "\n".join([*lines, "end-volume", ""])
