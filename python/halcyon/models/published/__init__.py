"""Tables of Wright 2014 (README.md); named.py has them under names for users."""

import csv
from importlib.resources import files

MB = 1e6


def table(name: str) -> list[dict[str, str]]:
    """The rows of `name`.csv, as printed."""
    text = files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def collisions(ranks: int, experiment: int, total: int = 480) -> list[int]:
    """Element k: targets with k stripes of the logs of `ranks` ranks (tables 6.5, G.1 to G.8)."""
    if ranks == 4096:
        rows = table("ost_collisions_4096_ranks_measured")
        found = {int(row["collisions"]) + 1: int(row[f"exp{experiment}"]) for row in rows}
    else:
        found = {
            int(row["collisions"]) + 1: int(row["targets"])
            for row in table("plfs_backend_collisions")
            if (int(row["cores"]), int(row["experiment"])) == (ranks, experiment)
        }
    counts = [0] * (max(found) + 1)
    for stripes, targets in found.items():
        counts[stripes] = targets
    counts[0] = total - sum(counts)
    return counts
