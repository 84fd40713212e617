"""Ports of loopback for servers that do not say which one the system chose for them."""

import http.client
import secrets
import socket
from pathlib import Path

ANSWER_S = 5
NO_ANSWER = (OSError, ValueError, http.client.HTTPException)
"""Of a server that does not listen yet, or of another process at its port."""


def free_port() -> int:
    """Another process may take it before the server does: see `port_was_taken`. None of those that the system gives to
    clients, so that a server finds it free again when it is restarted."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def port_was_taken(log: Path) -> bool:
    """Of a server that has ended, as its log says."""
    return "address already in use" in log.read_text()
