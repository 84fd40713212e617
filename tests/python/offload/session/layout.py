"""Where the words of a client lie in the segment of a session (src/offload/segment/segment.hpp)."""

import json
from dataclasses import dataclass
from pathlib import Path

from segment import PAGE_BYTES, PAGES

PAGE = 4096
RING_HEAD, RING_TAIL, RING_SLOTS = 0, 64, 128
EVENT_BYTES, ENTRY_BYTES, ABSENCE_BYTES, LOG_HEAD = 64, 384, 24, 64

PAGE_WORDS = {
    "page: waiting, closed": 0,
    "page: process": 8,
    "page: namespace of processes": 16,
    "page: last iteration ended": 64,
    "page: skipped": 72,
    "page: spilled": 88,
    "page: signals": 128,
    "page: dead": 144,
}
EVENT_WORDS = {"kind, index": 0, "iteration": 8, "sequence": 16, "value": 24}
ENTRY_WORDS = {
    "state, variable": 0,
    "iteration": 8,
    "sequence": 16,
    "location": 24,
    "place, block": 32,
    "dimensions": 40,
    "rank of dimensions": 96,
    "whole": 104,
    "offset": 168,
    "bytes": 360,
}


def rounded(bytes_: int) -> int:
    return -(-bytes_ // PAGE) * PAGE


@dataclass(frozen=True)
class Layout:
    clients: int
    blocks_per_client: int
    event_slots: int
    return_slots: int
    absence_slots: int

    @staticmethod
    def of(process: int) -> "Layout":
        """From the session document that the process holds."""
        for name in Path(f"/proc/{process}/fd").iterdir():
            if "halcyon-session" in str(name.readlink()):
                document = json.loads(name.read_bytes())
                return Layout(**{key: document[key] for key in Layout.__dataclass_fields__})
        raise AssertionError(f"process {process} has no session document")

    @staticmethod
    def classes() -> list[str]:
        rings = [f"{ring}: {word}" for ring in ("events", "returns") for word in ("head", "tail", "slots")]
        fields = [f"event: {word}" for word in EVENT_WORDS] + [f"entry: {word}" for word in ENTRY_WORDS]
        return [*PAGE_WORDS, *rings, *fields, "absences: count", "absences: slots"]

    def offsets(self, what: str, client: int) -> list[int]:
        """Of all words of a class, each of 8 bytes."""
        if what in PAGE_WORDS:
            return [PAGES + client * PAGE_BYTES + PAGE_WORDS[what]]
        of, word = what.split(": ")
        begin = self._begins()[of] + client * self._strides()[of]
        if of == "entry":
            return [begin + i * ENTRY_BYTES + ENTRY_WORDS[word] for i in range(self.blocks_per_client)]
        if of == "event":
            return [begin + RING_SLOTS + i * EVENT_BYTES + EVENT_WORDS[word] for i in range(self.event_slots)]
        if of == "absences":
            slots = range(LOG_HEAD, LOG_HEAD + self.absence_slots * ABSENCE_BYTES, 8)
            return [begin + at for at in ([0] if word == "count" else slots)]
        places = {"head": [RING_HEAD], "tail": [RING_TAIL], "slots": range(RING_SLOTS, self._bytes()[of], 8)}
        return [begin + at for at in places[word]]

    def _bytes(self) -> dict[str, int]:
        return {
            "events": RING_SLOTS + self.event_slots * EVENT_BYTES,
            "returns": RING_SLOTS + self.return_slots * 4,
            "entry": self.blocks_per_client * ENTRY_BYTES,
            "absences": LOG_HEAD + self.absence_slots * ABSENCE_BYTES,
        }

    def _strides(self) -> dict[str, int]:
        strides = {of: rounded(size) for of, size in self._bytes().items()}
        return strides | {"event": strides["events"]}

    def _begins(self) -> dict[str, int]:
        """Rings, tables and logs follow each other, one for each client of each."""
        begins, at = {}, rounded(PAGES + self.clients * PAGE_BYTES)
        for of, stride in self._strides().items():
            if of == "event":
                continue
            begins[of] = at
            at += self.clients * stride
        return begins | {"event": begins["events"]}
