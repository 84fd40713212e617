"""Some processes that do what they are told with one file, one after the other. Arguments: a directory, a seed, a
number of operations. Each operation says what came of it: two directories say the same."""

import hashlib
import json
import os
import random
import sys
from typing import Any

PROCESSES = 3
DIRECTORY = sys.argv[1]
FILE = f"{DIRECTORY}/f"
LONGEST = 200_000


class Worker:
    """What a process knows: its open files."""

    def __init__(self) -> None:
        self.files: dict[int, int] = {}

    def do(self, name: str, slot: int, offset: int, size: int, byte: int) -> Any:
        if name == "open":
            self.close(slot)
            flags = [os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_RDONLY, os.O_RDWR | os.O_TRUNC][byte % 4]
            self.files[slot] = os.open(FILE, flags | os.O_CREAT, 0o644)
            return flags
        if name == "stat":
            return os.stat(FILE).st_size
        if name == "rename":
            os.rename(FILE, f"{DIRECTORY}/g")
            os.rename(f"{DIRECTORY}/g", FILE)
            return sorted(os.listdir(DIRECTORY))
        if slot not in self.files:
            return "closed"
        fd = self.files[slot]
        try:
            return self.with_open(fd, name, slot, offset, size, bytes([97 + byte % 26]))
        except OSError as error:
            return f"errno {error.errno}"

    def with_open(self, fd: int, name: str, slot: int, offset: int, size: int, byte: bytes) -> Any:
        if name == "close":
            return self.close(slot)
        if name == "pwrite":
            return self.synced(fd, os.pwrite(fd, byte * size, offset))
        if name == "write":
            return self.synced(fd, os.write(fd, byte * size))
        if name == "truncate":
            return self.synced(fd, os.ftruncate(fd, offset))
        if name == "pread":
            return hashlib.sha256(os.pread(fd, size, offset)).hexdigest()
        if name == "read":
            return hashlib.sha256(os.read(fd, size)).hexdigest()
        if name == "seek":
            return os.lseek(fd, offset, os.SEEK_SET if size % 2 else os.SEEK_END)
        return [os.fstat(fd).st_size, os.lseek(fd, 0, os.SEEK_CUR)]

    def synced(self, fd: int, result: Any) -> Any:
        os.fsync(fd)
        return result

    def close(self, slot: int) -> bool:
        if (fd := self.files.pop(slot, None)) is not None:
            os.close(fd)
        return fd is not None


NAMES = ["open", "open", "stat", "rename", "close", "truncate", "seek", "size"]
NAMES += ["pwrite", "write", "pread", "read"] * 4


def serve(orders: int, answers: int) -> None:
    worker = Worker()
    with os.fdopen(orders) as given, os.fdopen(answers, "w") as told:
        for line in given:
            print(json.dumps(worker.do(*json.loads(line))), file=told, flush=True)
    os._exit(0)


def main() -> None:
    generator = random.Random(int(sys.argv[2]))
    ends = []
    for _ in range(PROCESSES):
        orders, answers = os.pipe(), os.pipe()
        if os.fork() == 0:
            for one, other in ends:
                one.close()
                other.close()
            os.close(orders[1])
            os.close(answers[0])
            serve(orders[0], answers[1])
        os.close(orders[0])
        os.close(answers[1])
        ends.append((os.fdopen(orders[1], "w"), os.fdopen(answers[0])))
    os.close(os.open(FILE, os.O_CREAT | os.O_RDWR, 0o644))
    for number in range(int(sys.argv[3])):
        large = generator.random() < 0.05
        order = [
            generator.choice(NAMES), generator.randrange(3), generator.randrange(LONGEST if large else 3000),
            generator.randrange(1, 50_000 if large else 500), generator.randrange(1 << 20),
        ]  # fmt: skip
        worker = generator.randrange(PROCESSES)
        print(json.dumps(order), file=ends[worker][0], flush=True)
        print(number, worker, order, ends[worker][1].readline().strip())
    for one, other in ends:
        one.close()
        other.close()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    with open(FILE, "rb") as file:
        print(hashlib.sha256(file.read()).hexdigest())


main()
