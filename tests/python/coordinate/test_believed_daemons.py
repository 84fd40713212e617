"""Commands for operators believe the daemons that agents believe, and nobody else who listens at the address."""

import os
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from coordinator_process import OTHER_USER, as_user

from halcyon.cli import main
from halcyon.coordinate.address import Address
from halcyon.coordinate.configuration import choose, find_program
from halcyon.coordinate.connection import Connection
from halcyon.coordinate.jobs import tell_each
from halcyon.errors import UnavailableError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="listening as another user needs root")

NOT_BELIEVED = f"user {OTHER_USER} listens there, who is not believed"


def listen_as_another_user(name: str) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    with as_user(OTHER_USER):
        listening.bind(name)
        listening.listen()
    return listening


@pytest.fixture
def strangers() -> Iterator[Address]:
    """Where another user listens. An abstract name is free for everybody while the daemon is down."""
    name = f"halcyon-strangers-{os.getpid()}"
    with listen_as_another_user(f"\0{name}"):
        yield Address(f"@{name}")


@pytest.mark.parametrize("command", [["top"], ["explain"], ["end", "x"], ["reserve", "x", "--user", "0"]])
def test_commands_believe_no_daemon_of_another_user(
    strangers: Address, capfd: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert main(["coordinator", *command, "--address", str(strangers)]) == 1
    assert capfd.readouterr().err.startswith(f"halcyon: no coordinator at {strangers}: {NOT_BELIEVED}")


def test_the_user_that_coordinators_yaml_names_is_believed(strangers: Address, tmp_path: Path) -> None:
    try:
        find_program()
    except UnavailableError as why:
        pytest.skip(str(why))
    config = tmp_path / "coordinators.yaml"
    entry = f'{{paths: ["/scratch"], address: "{strangers}", user: {OTHER_USER}}}'
    config.write_text(f"halcyon: 1\ncoordinators:\n  scratch: {entry}\n")
    named = choose(config, None)
    assert tell_each([named], lambda _: None).names == ["scratch"]
    unnamed = tell_each([replace(named, user=None)], lambda _: None)
    assert NOT_BELIEVED in str(unnamed.failed["scratch"])


def test_the_owner_of_the_sockets_folder_is_believed() -> None:
    with tempfile.TemporaryDirectory(prefix="believed-") as folder:
        os.chown(folder, OTHER_USER, -1)
        address = Address(f"{folder}/s")
        with listen_as_another_user(address.name):
            Connection(address).close()
            os.chown(folder, 0, -1)
            with pytest.raises(UnavailableError, match=NOT_BELIEVED):
                Connection(address)
