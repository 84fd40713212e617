"""Colour maps and colours, by matplotlib's names."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError

Colour = tuple[float, float, float]

UNKNOWN = (0.5, 0.5, 0.5, 1.0)
"""Colour of values that are no numbers."""


def colour_map(name: str, count: int = 256) -> NDArray[np.float64]:
    """Rows of red, green, blue and opacity from 0 to 1. UsageError: there is none of this name."""
    from matplotlib import colormaps

    if name not in colormaps:
        known = "viridis, magma, cividis, coolwarm, RdBu_r, Blues, gray"
        raise UsageError(f"no colour map '{name}'; expected one of matplotlib's, such as {known}")
    return np.asarray(colormaps[name](np.linspace(0, 1, count)), np.float64)


def colour(name: str) -> Colour:
    """`white`, `#10151c`. UsageError: it is none."""
    from matplotlib.colors import to_rgb

    try:
        red, green, blue = to_rgb(name)
    except ValueError:
        raise UsageError(f"no colour '{name}'; expected a name such as white, or #rrggbb") from None
    return float(red), float(green), float(blue)


def lookup_table(name: str, low: float, high: float) -> Any:
    """Of VTK."""
    from vtkmodules.vtkCommonCore import vtkLookupTable

    rows = colour_map(name)
    table = vtkLookupTable()
    table.SetNumberOfTableValues(len(rows))
    for i, row in enumerate(rows):
        table.SetTableValue(i, *row)
    table.SetRange(low, high if high > low else low + (abs(low) or 1.0) * 1e-6)
    table.SetNanColor(*UNKNOWN)
    return table


def is_light(name: str) -> bool:
    """Whether dark texts can be read on it."""
    red, green, blue = colour(name)
    return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
