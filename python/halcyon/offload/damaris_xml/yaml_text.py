"""Writes plain values as YAML 1.2 that a human would have written: maps in blocks, lists in one line."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value]"

# Text that every YAML reader takes for a string although it is not quoted: no indicator, no blank at an end.
_PLAIN = re.compile(r"[A-Za-z_(](?:[A-Za-z0-9_./+*()%°-]| (?=[A-Za-z0-9_./+*()%°-]))*")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")  # some readers take them for line ends
_NOT_STRINGS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def scalar(value: bool | int | float | str) -> str:
    """One scalar; text is quoted where a reader could take it for something else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _NOT_STRINGS:
        return value
    return _UNPRINTABLE.sub(lambda c: f"\\u{ord(c[0]):04x}", json.dumps(value, ensure_ascii=False))


def _flow(value: Value) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return scalar(value)


def write(document: Mapping[str, Value], indent: int = 0, width: int = 110) -> str:
    """A map as YAML text. Inner maps that fit a line and hold no further map are written in one."""
    lines = []
    for key, value in document.items():
        start = " " * indent + scalar(key) + ":"
        flow = _flow(value)
        holds_maps = isinstance(value, Mapping) and any(isinstance(item, Mapping) for item in value.values())
        if isinstance(value, Mapping) and value and (indent == 0 or holds_maps or len(start) + len(flow) > width):
            lines.append(start + "\n" + write(value, indent + 2, width))
        else:
            lines.append(f"{start} {flow}\n")
    return "".join(lines)
