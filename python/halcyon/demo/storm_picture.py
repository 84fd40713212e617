"""A picture of the storm from the view of a Halcyon run: a section through the updraft, and the rain from above."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def draw_storm(view: Path, picture: Path, minutes_per_phase: float) -> None:
    """Draws the phase in which most rain is in the air."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with h5py.File(view) as file:
        phase = int(np.argmax([file["qr"][t].sum() for t in range(file["qr"].shape[0])]))
        w, qc, qr = (np.asarray(file[name][phase], np.float32) for name in ("w", "qc", "qr"))
        x, y, z = (np.asarray(file[name][...], np.float32) / 1e3 for name in ("x", "y", "z"))
    row = int(qr.sum(axis=(0, 2)).argmax())
    cloud, rain, wind = ((field[:, row] * scale) for field, scale in ((qc, 1e3), (qr, 1e3), (w, 1)))

    with plt.style.context("dark_background"), mpl.rc_context({"font.size": 9, "axes.linewidth": 0.6}):
        figure, (section, plan) = plt.subplots(
            1, 2, figsize=(9, 3.9), dpi=110, width_ratios=(1.55, 1), layout="constrained"
        )
        sky = "#0d1b2a"
        figure.set_facecolor(sky)
        section.set_facecolor(sky)
        across, up = np.meshgrid(x, z)
        section.contourf(*_finer(across, up, cloud), levels=np.linspace(0.05, 4, 24), cmap="Greys_r", extend="max")
        rains = section.contourf(
            *_finer(across, up, np.ma.masked_less(rain, 0.1)), levels=np.linspace(0.1, 8, 24), cmap="cool", alpha=0.55,
            extend="max",
        )  # fmt: skip
        lines = section.contour(
            *_finer(across, up, wind), levels=[-5, 5, 10, 20, 30], colors=["#ff9f1c"], linewidths=0.9
        )
        section.clabel(lines, fmt="%.0f", fontsize=7)
        middle = float(x[int(qr.sum(axis=(0, 1)).argmax())])
        section.set(xlim=(max(middle - 22, x[0]), min(middle + 22, x[-1])), ylim=(0, 15))
        section.set(xlabel="km", ylabel="height, km", title="cloud (grey), rain (colour), updraft in m/s (lines)")
        figure.colorbar(rains, ax=section, label="rain water, g/kg", ticks=[0.1, 2, 4, 6, 8], pad=0.01)

        east, north = np.meshgrid(x, y)
        column = _finer(east, north, qr.max(axis=0) * 1e3)
        plan.set_facecolor(sky)
        shown = plan.contourf(*column, levels=np.linspace(0.2, 8, 30), cmap="turbo", extend="max")
        plan.axhline(float(y[row]), color="white", linewidth=0.6, linestyle=":")
        plan.set(xlabel="km", title="most rain water in the column", aspect="equal")
        figure.colorbar(shown, ax=plan, label="g/kg", ticks=[2, 4, 6, 8], pad=0.02, shrink=0.85)
        minutes = (phase + 1) * minutes_per_phase
        figure.suptitle(f"{minutes:.0f} minutes after the first warm bubble, sounding of 22 May 2011", fontsize=10)
        figure.savefig(picture, facecolor=sky)
        plt.close(figure)


def _finer(across: Array, up: Array, field: Array, by: int = 4) -> tuple[Array, Array, Array]:
    """The field between its points, bilinearly: contours of a coarse grid have corners otherwise."""
    rows, columns = field.shape
    r = np.linspace(0, rows - 1, rows * by)
    c = np.linspace(0, columns - 1, columns * by)
    values: Array = np.ma.filled(field, 0)

    def resampled(a: Array) -> Array:
        down = np.stack([np.interp(r, np.arange(rows), a[:, j]) for j in range(columns)], axis=1)
        return np.stack([np.interp(c, np.arange(columns), line) for line in down])

    return resampled(across), resampled(up), resampled(values)
