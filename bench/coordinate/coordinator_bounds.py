"""Bounds of decisions as a coordinator has them by default, read from schema/coordinators.schema.json. An interruption
costs a coordinator as much as its latest ones did, and at least the default."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from halcyon.policy.functions import Bounds, functions
from halcyon.quantities import parse_seconds

_SCHEMA = Path(__file__).resolve().parents[2] / "schema/coordinators.schema.json"


@cache
def coordinator_bounds() -> Bounds:
    """Those of the policy code alone differ: it knows no least gain, since its forecasts may be exact."""
    bounds = functions().Settings()
    for key, of in _stated().items():
        name = key.replace("-", "_")
        if hasattr(bounds, f"{name}_s"):
            setattr(bounds, f"{name}_s", parse_seconds(of["default"], key))
        elif hasattr(bounds, name):
            setattr(bounds, name, of["default"])
    return bounds


def _stated() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(_SCHEMA.read_text())["definitions"]["bounds"]["properties"]
    return found
