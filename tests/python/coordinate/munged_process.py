"""A real munged with a key of its own."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from coordinator_process import LIMIT_S, wait_until

MUNGED = shutil.which("munged", path=f"{os.environ['PATH']}:/usr/sbin")


class MungedProcess:
    """Its folder holds the socket by the name that libmunge looks for in /run/munge."""

    def __init__(self) -> None:
        assert MUNGED is not None
        self.folder = Path(tempfile.mkdtemp(prefix="munged-"))
        self.folder.chmod(0o755)
        self.socket = self.folder / "munge.socket.2"
        key = self.folder / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        files = {"socket": self.socket, "key-file": key} | {
            f"{name}-file": self.folder / name for name in ("pid", "log", "seed")
        }
        words = [f"--{option}={path}" for option, path in files.items()]
        self.process = subprocess.Popen(
            [MUNGED, "--foreground", "--force", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: self._signs("ready"), "munged answers")

    def _signs(self, payload: str) -> bool:
        assert self.process.poll() is None, "munged ended"
        return self.sign(payload) is not None

    def sign(self, payload: str) -> str | None:
        """A credential of this process's effective user."""
        command = ["munge", "--socket", str(self.socket)]
        done = subprocess.run(command, input=payload, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    def end(self) -> None:
        """Not by SIGTERM, which munged misses right before accept(): it goes on until somebody connects."""
        self.process.kill()
        self.process.wait(LIMIT_S)
        shutil.rmtree(self.folder)
