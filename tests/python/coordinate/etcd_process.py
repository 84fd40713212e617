"""A real etcd on loopback, in a folder of its own."""

import json
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from coordinator_process import LIMIT_S, wait_until


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class EtcdProcess:
    """One server; the same after it was killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{free_port()}"
        self._peers = f"http://127.0.0.1:{free_port()}"
        self.process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def is_installed() -> bool:
        return shutil.which("etcd") is not None

    def start(self) -> None:
        given = {
            "name": "one", "data-dir": self.folder / "data", "log-level": "error",
            "listen-client-urls": self.url, "advertise-client-urls": self.url,
            "listen-peer-urls": self._peers, "initial-advertise-peer-urls": self._peers,
            "initial-cluster": f"one={self._peers}",
        }  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            words = [f"--{key}={value}" for key, value in given.items()]
            self.process = subprocess.Popen(["etcd", *words], stdout=log, stderr=log)
        wait_until(self.answers, "etcd answers")

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            return "header" in self.ask("/v3/kv/range", {"key": "AA=="})
        except OSError:
            return False

    def ask(self, path: str, what: dict[str, object]) -> dict[str, object]:
        question = urllib.request.Request(self.url + path, json.dumps(what).encode())
        with urllib.request.urlopen(question, timeout=LIMIT_S) as answer:
            told = json.loads(answer.read())
        assert isinstance(told, dict)
        return told

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
