"""Ten steps of a simulation, and the next two asked of halcyon.client: forecasting.py FOLDER."""

import sys
from pathlib import Path

from halcyon.client import accesses_within, next_accesses


def write_step(folder: Path, step: int) -> None:
    with (folder / f"out.{step:04}").open("wb", buffering=0) as file:
        for _ in range(3):
            file.write(bytes(4096))


def main() -> None:
    folder = Path(sys.argv[1])
    for step in range(10):
        write_step(folder, step)
    for one in next_accesses(10).accesses:
        name = Path(one.path).name if one.path else ""
        new = " new" if one.new_file else ""
        offset, size = (-1 if value is None else value for value in (one.offset, one.bytes))
        print(f"{one.operation} {name}{new} {offset} {size}")
    print("within", len(accesses_within(1e9, 7).accesses))


main()
