"""The plasma on a ring: what its files hold."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from mini_apps import MiniApps

PARTICLES = 3000
SETTINGS = {"particles": PARTICLES, "cells": 32, "steps": 300, "output_every": 100, "group": 7}
ITERATIONS = 3

HEADER = np.dtype([("magic", "S8"), ("step", "i8"), ("particles", "i8"), ("node", "i8"), ("group", "i8"),
                   ("unused", "i8", 2), ("time", "f8")])  # fmt: skip
PARTICLE = np.dtype([("number", "i8"), ("place", "f8"), ("velocity", "f8")])
FOOTER = np.dtype([("magic", "S8"), ("particles", "i8"), ("unused", "i8", 4), ("momentum", "f8"), ("energy", "f8")])


@dataclass(frozen=True)
class Output:
    """One node's file of one iteration."""

    header: np.void
    particles: np.ndarray
    footer: np.void

    @classmethod
    def read(cls, path: Path) -> "Output":
        data = path.read_bytes()
        inner = data[HEADER.itemsize : -FOOTER.itemsize]
        return cls(
            np.frombuffer(data, HEADER, 1)[0],
            np.frombuffer(inner, PARTICLE),
            np.frombuffer(data[-FOOTER.itemsize :], FOOTER)[0],
        )


def outputs(run: Path) -> list[list[Output]]:
    """Of each iteration, those of all nodes."""
    nodes = sorted(run.glob("node*"))
    return [[Output.read(node / f"gtc_{k:06d}.dat") for node in nodes] for k in range(1, ITERATIONS + 1)]


def together(files: list[Output]) -> np.ndarray:
    """The particles of all nodes in the order of their numbers."""
    return np.sort(np.concatenate([file.particles for file in files]), order="number")


def test_each_particle_is_in_one_file_of_each_iteration(mini_apps: MiniApps) -> None:
    for files in outputs(mini_apps.run("gtc-like", 2, ranks_per_file=1, **SETTINGS)):
        assert len(files) == 2
        np.testing.assert_array_equal(together(files)["number"], np.arange(PARTICLES))


def test_momentum_is_conserved_while_the_streams_break_up(mini_apps: MiniApps) -> None:
    iterations = [together(files) for files in outputs(mini_apps.run("gtc-like", 2, ranks_per_file=1, **SETTINGS))]
    momenta = [particles["velocity"].sum() for particles in iterations]
    np.testing.assert_allclose(momenta, momenta[0], rtol=0, atol=1e-9 * PARTICLES)
    assert momenta[0] == pytest.approx(0.2 * PARTICLES, rel=0.05)
    # At the start no particle is slower than 0.6 against the drift; the instability slows many.
    assert (abs(iterations[-1]["velocity"] - 0.2) < 0.5).mean() > 0.1


def test_a_file_says_what_is_in_it(mini_apps: MiniApps) -> None:
    for iteration, files in enumerate(outputs(mini_apps.run("gtc-like", 2, ranks_per_file=1, **SETTINGS)), start=1):
        for node, file in enumerate(files):
            assert (file.header["step"], file.header["node"]) == (100 * iteration, node)
            assert file.header["particles"] == file.footer["particles"] == len(file.particles)
            velocity = file.particles["velocity"]
            assert file.footer["momentum"] == pytest.approx(velocity.sum(), abs=1e-9 * PARTICLES)
            assert file.footer["energy"] == pytest.approx((velocity**2).sum() / 2)


def test_counts_of_a_node_drift(mini_apps: MiniApps) -> None:
    counts = {len(files[0].particles) for files in outputs(mini_apps.run("gtc-like", 2, ranks_per_file=1, **SETTINGS))}
    assert len(counts) == ITERATIONS


def test_one_node_writes_one_file_for_all_its_ranks(mini_apps: MiniApps) -> None:
    for files in outputs(mini_apps.run("gtc-like", 2, **SETTINGS)):
        assert len(files) == 1
        assert len(files[0].particles) == PARTICLES


def test_any_number_of_ranks_computes_the_same_plasma(mini_apps: MiniApps) -> None:
    first, *others = (outputs(mini_apps.run("gtc-like", ranks, ranks_per_file=1, **SETTINGS)) for ranks in (1, 2))
    for other in others:
        for one, two in zip(first, other, strict=True):
            np.testing.assert_array_equal(together(one), together(two))


def test_another_seed_is_another_plasma(mini_apps: MiniApps) -> None:
    places = []
    for seed in (1, 2):
        run = mini_apps.run("gtc-like", 1, seed=seed, **SETTINGS)
        places.append(together(outputs(run)[0])["place"])
    assert not np.array_equal(*places)


def test_an_unknown_word_is_refused_with_the_known_ones(mini_apps: MiniApps) -> None:
    done = mini_apps.start("gtc-like", 1, particels=5)
    assert done.returncode != 0
    assert "particels=5" in done.stderr
    assert "particles" in done.stderr.split("keys:")[1]
