"""A real etcd on loopback, in a folder of its own."""

import json
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from coordinator_process import LIMIT_S, wait_until
from free_ports import ANSWER_S, NO_ANSWER, free_port, port_was_taken


class EtcdProcess:
    """One server; the same after it was killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = self._peers = ""
        self._log = folder / "log"
        self.process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def is_installed() -> bool:
        return shutil.which("etcd") is not None

    def start(self) -> None:
        """The first time at ports that are free, then at the same ones."""
        is_new = not self.url
        while True:
            if is_new:
                self.url, self._peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
            process = self._launch()
            wait_until(lambda: process.poll() is not None or self.answers(), "etcd answers")  # noqa: B023
            if process.poll() is None:
                return
            assert is_new, self._log.read_text()
            assert port_was_taken(self._log), self._log.read_text()

    def _launch(self) -> "subprocess.Popen[bytes]":
        given = {
            "name": "one", "data-dir": self.folder / "data", "log-level": "error",
            "listen-client-urls": self.url, "advertise-client-urls": self.url,
            "listen-peer-urls": self._peers, "initial-advertise-peer-urls": self._peers,
            "initial-cluster": f"one={self._peers}",
        }  # fmt: skip
        with self._log.open("ab") as log:
            words = [f"--{key}={value}" for key, value in given.items()]
            self.process = subprocess.Popen(["etcd", *words], stdout=log, stderr=log)
        return self.process

    def answers(self) -> bool:
        try:
            return "header" in self.ask("/v3/kv/range", {"key": "AA=="}, ANSWER_S)
        except NO_ANSWER:
            return False

    def ask(self, path: str, what: dict[str, object], timeout_s: float = LIMIT_S) -> dict[str, object]:
        question = urllib.request.Request(self.url + path, json.dumps(what).encode())
        with urllib.request.urlopen(question, timeout=timeout_s) as answer:
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
