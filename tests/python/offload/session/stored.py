"""What a run left in its output directory."""

import h5py
import numpy as np
from running import Case, check_complete, expected_block, living_servers_of, wait_for

Key = tuple[str, int, int]
"""Variable, iteration, rank."""


def check_values(case: Case) -> dict[Key, np.ndarray]:
    """Whatever is stored is right."""
    blocks = case.blocks()
    for (name, iteration, rank), block in blocks.items():
        np.testing.assert_array_equal(block, expected_block(name, iteration, rank, block.shape))
    return blocks


def recorded_missing(case: Case) -> set[Key]:
    found = set()
    for path in case.data_files():
        opened = case.format.open(path)
        found |= {(name, iteration, rank) for name, iteration, rank, _, _ in opened.contents().missing}
        opened.close()
    return found


def check_view(case: Case, blocks: dict[Key, np.ndarray], iterations: int, nz: int) -> None:
    """The view of the whole domain shows each block that is stored, and nothing else."""
    with h5py.File(case.output / "tiny.h5") as view:
        for name in case.variables:
            shown = view[name][...]
            assert shown.shape == (iterations, nz, 8, 16 * case.ranks), f"{name}: the view has shape {shown.shape}"
            for iteration in range(iterations):
                for rank in range(case.ranks):
                    part = shown[iteration, :, :, 16 * rank : 16 * (rank + 1)]
                    if (block := blocks.get((name, iteration, rank))) is not None:
                        np.testing.assert_array_equal(part, block)
                    else:
                        assert np.isnan(part).all(), f"{name}: the view has values of a block that is not stored"


def total(case: Case, count: str) -> int:
    """The sum of a count over all writers."""
    writers = [path.stem.removeprefix("counts-") for path in case.output.glob("counts-*.json")]
    return sum(case.counts(writer)[count] for writer in writers)


def check_nothing_is_half_done(case: Case) -> None:
    left = [p.name for pattern in ("*.tmp", f".*{case.format.ending}", ".*.room") for p in case.output.glob(pattern)]
    assert not left, f"left in the output directory: {sorted(left)}"


def check_whole_values(case: Case, iterations: int, nz: int) -> None:
    """Every block of every iteration is stored and shown."""
    check_complete(case, iterations)
    check_view(case, case.blocks(), iterations, nz)


def check_whole_counts(case: Case, iterations: int) -> None:
    """Once all servers have ended, each block and iteration is counted once, and nothing is said to be lost."""
    wait_for(lambda: not living_servers_of(case), what="the servers exit")
    counts = case.counts()
    assert (counts["iterations"], total(case, "blocks")) == (iterations, iterations * case.ranks)
    for none in ("missing_blocks", "incomplete_iterations", "rejected_blocks", "failed_files", "dead_clients"):
        assert counts[none] == 0, f"{none}: {counts[none]}"
    check_nothing_is_half_done(case)
