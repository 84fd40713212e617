"""Starts a job beside a server world, `halcyon run --servers-per-node 1 -- mpirun …`, on one node or on two."""

import os
import secrets
import subprocess
import sys

from running import BUILDS, Case, Outcome, finish


def start_halcyon(case: Case, *arguments: str) -> "subprocess.Popen[str]":
    """`halcyon run` with these arguments, leading a process group as a job of a shell does."""
    build = BUILDS[case.mpi]
    environment = os.environ | {
        "HALCYON_MODULE_PATH": str(build / "lib"),
        "HALCYON_SERVER_WORLD": str(build / "bin/halcyon-server-world"),
        "HALCYON_SERVER": str(build / "bin/halcyon-server"),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "halcyon", "run", *arguments], cwd=case.directory, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def start_beside_world(case: Case, *options: str) -> "subprocess.Popen[str]":
    return start_halcyon(case, "--servers-per-node", "1", "--", *case.command(*options))


def run_beside_world(case: Case, *options: str) -> Outcome:
    return finish(start_beside_world(case, *options))


def log_of(case: Case, node: int = 0) -> str:
    return (case.output / f"server-n{node:04}.log").read_text()


TwoNodes = tuple[Case, list[list[str]]]
"""A case, and the commands in front of what is to run on its first and on its second node."""


def on_each(nodes: list[list[str]], program: list[str]) -> list[str]:
    first, second = (["-n", "1", *node, *program] for node in nodes)
    return ["mpirun.mpich", *first, ":", *second]


def start_on_each(case: Case, nodes: list[list[str]], program: list[str], session: str) -> "subprocess.Popen[str]":
    environment = os.environ | {"HALCYON_MODULE_PATH": str(BUILDS["mpich"] / "lib"), "HALCYON_SESSION": session}
    return subprocess.Popen(
        on_each(nodes, program), cwd=case.directory, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def start_two_node_run(
    case: Case, nodes: list[list[str]], *options: str
) -> tuple["subprocess.Popen[str]", "subprocess.Popen[str]"]:
    session = secrets.token_hex(16)
    world = start_on_each(case, nodes, [str(BUILDS["mpich"] / "bin/halcyon-server-world")], session)
    assert world.stdout is not None
    assert "2 server(s) listen" in world.stdout.readline()
    command = case.command(*options)
    program = command[command.index("-n") + 2 :]
    return world, start_on_each(case, nodes, program, session)


def finish_world(world: "subprocess.Popen[str]") -> None:
    """It ends by itself: MPICH's launcher fails when its input closes while its processes end."""
    world.wait(60)
    ended = finish(world)
    assert ended.status == 0, ended.text
