"""The two periodic writers of delta-cache.py (Dorier 2014, figure 6.3)."""

from cache_lost import PHASE_BYTES

from halcyon.delta.commands import Command
from halcyon.delta.runs import Setup
from halcyon.testbed.place import MOUNTS, mount_point

UNIT_S = 0.4
A_UNITS, B_UNITS = 10, 7
"""Between the starts of two phases. The bucket refills in less than 1 s."""
PHASES = 21
"""Of A; B has as many as begin in the same time."""

_WRITE = """
import mmap, os, sys, time
path, phase_bytes, period_s, phases = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
data = mmap.mmap(-1, 1 << 20)
fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
begin = time.monotonic()
for phase in range(phases):
    time.sleep(max(0.0, begin + phase * period_s - time.monotonic()))
    for _ in range(phase_bytes >> 20):
        os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
"""


def cache_setup(phases: int = PHASES) -> Setup:
    """What is measured; with fewer phases, a trial."""
    a = _command("A", "c1", A_UNITS * UNIT_S, phases)
    b = _command("B", "c2", B_UNITS * UNIT_S, phases * A_UNITS // B_UNITS)
    return Setup(a, b, str(MOUNTS), placed=(("A", "s1"), ("B", "s1")), pause_s=UNIT_S / 2)


def _command(name: str, host: str, period_s: float, phases: int) -> Command:
    file = str(mount_point(host, 0) / name)
    python = ("sh", "-c", 'exec "$HALCYON_PYTHON" -c "$0" "$@"', _WRITE)
    return Command(name, (*python, file, str(PHASE_BYTES), str(period_s), str(phases)), (host,))
