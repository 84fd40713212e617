"""Which processes are one application for coordinators: those of a job."""

import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from halcyon.errors import UsageError

NAME, SECRET = "HALCYON_JOB", "HALCYON_JOB_SECRET"
LONGEST_NAME = 64
LEAST_SECRET, LONGEST_SECRET = 16, 64
"""Characters; a coordinator refuses shorter secrets, and job_identity.hpp has room for no longer ones."""


@dataclass(frozen=True)
class Job:
    """Its name, and a secret that only its processes know."""

    name: str
    secret: str

    @staticmethod
    def new() -> "Job":
        """That nobody else has."""
        return Job(f"{socket.gethostname()[:40]}.{os.getpid()}.{secrets.token_hex(4)}", secrets.token_hex(16))

    @staticmethod
    def given(environment: Mapping[str, str] = os.environ) -> "Job | None":
        """By variables with which several commands become one application. None: there are none. UsageError: one of
        them is missing, or a coordinator would refuse it."""
        name, secret = environment.get(NAME, ""), environment.get(SECRET, "")
        if not name and not secret:
            return None
        if not name or not secret:
            missing, found = (NAME, SECRET) if secret else (SECRET, NAME)
            raise UsageError(
                f"{found} is set, and {missing} is not; set both, alike for all commands of a job, or none"
            )
        if len(name) > LONGEST_NAME or not is_plain(name):
            raise UsageError(f"{NAME}: {name!r}; expected 1 to {LONGEST_NAME} letters, digits or signs of ASCII")
        if not LEAST_SECRET <= len(secret) <= LONGEST_SECRET or not is_plain(secret):
            raise UsageError(
                f"{SECRET}: {len(secret)} characters; expected {LEAST_SECRET} to {LONGEST_SECRET} letters, digits or "
                "signs of ASCII, such as `openssl rand -hex 16` prints"
            )
        return Job(name, secret)

    def variables(self) -> dict[str, str]:
        return {NAME: self.name, SECRET: self.secret}


def is_plain(text: str) -> bool:
    """Letters, digits and signs of ASCII, without spaces."""
    return text.isascii() and text.isprintable() and " " not in text
