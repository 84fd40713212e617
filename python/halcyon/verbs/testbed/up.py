"""`halcyon testbed up`"""

import argparse
import time
from pathlib import Path

SUMMARY = "raise the test bed"
DESCRIPTION = (
    "Raises a test bed that stays until `halcyon testbed down`: compute hosts c1, c2, … and storage hosts s1, s2, …, "
    "joined by a bridge. Rates are written as for `tc`: 400mbit, 1gbit, or none."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--compute", metavar="N", type=int, default=4, help="compute hosts (default: %(default)s)")
    parser.add_argument(
        "--storage",
        metavar="N",
        type=int,
        default=2,
        help="storage hosts, each a GlusterFS server; 0: no file system (default: %(default)s)",
    )
    parser.add_argument(
        "--compute-link", metavar="RATE", default="1gbit", help="of each compute host's link (default: %(default)s)"
    )
    parser.add_argument(
        "--storage-link", metavar="RATE", default="400mbit", help="of each storage host's link (default: %(default)s)"
    )
    parser.add_argument(
        "--burst",
        metavar="SIZE",
        default="128kb",
        help="bytes that pass a storage host's link at once after a pause, as if it had a cache (default: %(default)s, "
        "131,072 bytes)",
    )
    parser.add_argument(
        "--mounts",
        metavar="N",
        type=int,
        help="mounts of the file system on all compute hosts together; each competes for the servers on its own, so "
        "that an application's weight follows its mounts (default: 4 per compute host)",
    )
    parser.add_argument(
        "--brick",
        metavar="SIZE",
        default="2 GiB",
        help="capacity of each storage host, in memory (default: %(default)s)",
    )
    parser.add_argument(
        "--caching-mounts",
        action="store_true",
        help="mounts keep for a second what they have read of sizes, times, names and data, as GlusterFS does unless "
        "it is told not to (default: nothing is kept, and a write has been at its server when it returns)",
    )
    parser.add_argument("--slurm", action="store_true", help="start Slurm: a slurmd per compute host")
    parser.add_argument(
        "--slurm-conf",
        metavar="FILE",
        type=Path,
        help="further lines of slurm.conf, such as those that `halcyon slurm install` prints; implies --slurm",
    )
    parser.add_argument("--verbose", action="store_true", help="print each step")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.quantities import plural
    from halcyon.testbed.bed import raise_to_stay
    from halcyon.testbed.plan import Plan, parse_rate, parse_room, rate_text

    storage = arguments.storage
    mounts = 4 * arguments.compute if arguments.mounts is None else arguments.mounts
    further = _text_of(arguments.slurm_conf) if arguments.slurm_conf else None
    plan = Plan(
        compute=arguments.compute,
        storage=storage,
        compute_link_bits_per_s=parse_rate(arguments.compute_link, "--compute-link"),
        storage_link_bits_per_s=parse_rate(arguments.storage_link, "--storage-link"),
        burst_bytes=parse_room(arguments.burst, "--burst"),
        mounts=mounts if storage else 0,
        brick_bytes=parse_room(arguments.brick, "--brick"),
        caching_mounts=arguments.caching_mounts,
        slurm=arguments.slurm or further is not None,
        slurm_lines=tuple(further.splitlines()) if further else (),
    )
    begin = time.monotonic()
    raise_to_stay(plan, on_step=print if arguments.verbose else None)
    links = f"links {rate_text(plan.compute_link_bits_per_s)} and {rate_text(plan.storage_link_bits_per_s)}"
    print(
        f"up in {time.monotonic() - begin:.2f} s: {plural(plan.compute, 'compute host')}, "
        f"{plural(storage, 'storage host')}, {links}, {plural(plan.mounts, 'mount')}{', Slurm' if plan.slurm else ''}"
    )
    print("next: halcyon testbed check; halcyon testbed exec c1 -- COMMAND; halcyon testbed down")
    return 0


def _text_of(file: Path) -> str:
    from halcyon.errors import HalcyonSystemError

    try:
        return file.read_text(encoding="utf-8")
    except OSError as why:
        raise HalcyonSystemError.of(why, file) from why
