"""Figures of this room as `make bench` wants them: a line each, the median and beside it the spread."""

import statistics


def show(name: str, values: list[float], unit: str) -> None:
    """Prints the median of `values` as `observe.name`; of several, also the tenth and ninetieth percentiles."""
    figures = {"": statistics.median(values)}
    if len(values) > 1:
        deciles = statistics.quantiles(values, n=10, method="inclusive")
        figures |= {"_p10": deciles[0], "_p90": deciles[-1]}
    for suffix, value in figures.items():
        print(f"observe.{name}{suffix} {value:.6g} {unit}", flush=True)
