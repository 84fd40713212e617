"""A picture of the storm from the view of a Halcyon run: a section through the rain, and the rain from above."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SKY = "#0d1b2a"
RAIN = np.linspace(0.2, 8, 40)  # g/kg
FINER = 4  # points drawn for each of the grid: contours of a coarse grid have corners otherwise
ARROWS_ABOVE = 3.0  # m/s: what is slower is weather elsewhere


def draw_storm(view: Path, picture: Path, minutes_per_phase: float) -> None:
    """Draws the phase in which most rain is in the air."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with h5py.File(view) as file:
        phase = int(np.argmax([file["qr"][t].sum() for t in range(file["qr"].shape[0])]))
        w, u, qc, qr = (np.asarray(file[name][phase], np.float32) for name in ("w", "u", "qc", "qr"))
        x, y, z = (np.asarray(file[name][...], np.float32) / 1e3 for name in ("x", "y", "z"))
    row = int(qr.sum(axis=(0, 2)).argmax())
    cloud, rain, up, along = qc[:, row] * 1e3, qr[:, row] * 1e3, w[:, row], u[:, row]

    with plt.style.context("dark_background"), mpl.rc_context({"font.size": 9, "axes.linewidth": 0.6}):
        figure, (section, plan) = plt.subplots(
            1, 2, figsize=(9, 3.9), dpi=110, width_ratios=(1.45, 1), layout="constrained"
        )
        figure.set_facecolor(SKY)
        for axes in (section, plan):
            axes.set_facecolor(SKY)
        colours = {"levels": RAIN, "cmap": "YlGnBu_r", "extend": "max"}
        shown = section.contourf(*_finer(x, z, rain), **colours)
        section.contour(*_finer(x, z, cloud), levels=[0.1], colors="white", linewidths=1.1)
        moving = np.abs(up) > ARROWS_ABOVE
        moving[::2] = False
        across, height = np.meshgrid(x, z)
        arrows = section.quiver(
            across[moving],
            height[moving],
            along[moving],
            up[moving],
            color="#ff9f1c",
            scale=350,
            width=0.0035,
            pivot="mid",
        )
        section.quiverkey(arrows, 0.86, 0.05, 20, "20 m/s", labelpos="E", coordinates="axes", labelsep=0.06)
        middle = float(x[int(qr.sum(axis=(0, 1)).argmax())])
        section.set(xlim=_window(x, middle), ylim=(float(z[0]), 15))
        section.set(xlabel="x (km)", ylabel="height (km)", title="rain, cloud (outline), wind (arrows)")

        plan.contourf(*_finer(x, y, qr.max(axis=0) * 1e3), **colours)
        plan.axhline(float(y[row]), color="white", linewidth=0.6, linestyle=":")
        plan.set(xlabel="x (km)", ylabel="y (km)", title="from above; dots: the section", aspect="equal")
        plan.set(xlim=_window(x, middle), ylim=_window(y, float(y[row])))
        figure.colorbar(shown, ax=plan, label="rain water (g/kg)", ticks=[0.2, 2, 4, 6, 8], pad=0.03, shrink=0.9)
        minutes = (phase + 1) * minutes_per_phase
        figure.suptitle(f"{minutes:.0f} minutes after the warm bubble, in the air of 22 May 2011", fontsize=10)
        figure.savefig(picture, facecolor=SKY)
        plt.close(figure)


def _window(axis: Array, middle: float, half_km: float = 18) -> tuple[float, float]:
    """The neighbourhood of the storm, as far as the model reaches."""
    return max(middle - half_km, float(axis[0])), min(middle + half_km, float(axis[-1]))


def _finer(across: Array, up: Array, field: Array) -> tuple[Array, Array, Array]:
    """A field and its axes with more points, bilinear between those of the grid."""
    columns, rows = (np.linspace(0, axis.size - 1, axis.size * FINER) for axis in (across, up))
    down = np.stack([np.interp(rows, np.arange(up.size), column) for column in field.T], axis=1)
    values = np.stack([np.interp(columns, np.arange(across.size), line) for line in down])
    return np.interp(columns, np.arange(across.size), across), np.interp(rows, np.arange(up.size), up), values
