"""Results as JSON: fields and what follows from them, SI units in the names, null for what is not known."""

import json
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any


def as_json(results: object) -> str:
    """One object of a dataclass's fields and properties, and so on down."""
    return json.dumps({"format": 1} | plain(results), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: Any, names: Callable[[type], tuple[str, ...]] | None = None) -> Any:
    """Dataclasses become dicts, paths strings; what is no number becomes null. `names`: of a class, by default all."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name), names) for name in (names or names_of)(type(value))}
    if isinstance(value, dict):
        return {str(key): plain(each, names) for key, each in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(each, names) for each in value)
    if isinstance(value, (list, tuple)):
        return [plain(each, names) for each in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@cache
def names_of(kind: type) -> tuple[str, ...]:
    """A dataclass's fields in their order, then its public properties by name."""
    own = tuple(field.name for field in fields(kind))
    public = (name for name in dir(kind) if not name.startswith("_"))
    return own + tuple(name for name in public if isinstance(getattr(kind, name), property))
