"""A brick that is killed, as a test needs it."""

from halcyon.testbed import place
from halcyon.testbed.bed import Bed


def kill_brick(bed: Bed, host: str) -> None:
    """Ends the brick of a storage host, and waits until the bed knows."""
    bed.run(host, ["pkill", "-KILL", "-f", f"glusterfsd.*{host}.vol"])
    wait = f"until grep -q 'brick {host}' {place.ENDED}; do sleep 0.05; done"
    assert bed.run("c1", ["timeout", "30", "sh", "-c", wait]).returncode == 0
