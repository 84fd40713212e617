"""Debian's Prometheus, which scrapes one daemon."""

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from coordinator_process import LIMIT_S, CoordinatorProcess, wait_until
from free_ports import ANSWER_S, NO_ANSWER, free_port, port_was_taken


class PrometheusProcess:
    """With its data in a folder of its own."""

    def __init__(self, folder: Path, of: CoordinatorProcess) -> None:
        at = re.search(r"metrics at tcp:(\S+)", of.log.read_text())
        assert at, "the daemon's metrics are at a TCP address"
        config = folder / "prometheus.yml"
        job = {"job_name": "halcyon", "scrape_interval": "200ms", "scrape_timeout": "200ms"}
        config.write_text(json.dumps({"scrape_configs": [job | {"static_configs": [{"targets": [at[1]]}]}]}))
        self.log = folder / "log"
        self._launch(folder, config)
        while self.process.poll() is not None:
            assert port_was_taken(self.log), self.log.read_text()
            self._launch(folder, config)

    def _launch(self, folder: Path, config: Path) -> None:
        """Until it answers, or has ended."""
        self.url = f"http://127.0.0.1:{free_port()}"
        given = {
            "config.file": config, "storage.tsdb.path": folder / "data", "log.level": "warn",
            "web.listen-address": self.url.removeprefix("http://"),
        }  # fmt: skip
        with self.log.open("wb") as log:
            words = [f"--{key}={value}" for key, value in given.items()]
            self.process = subprocess.Popen(["prometheus", *words], stdout=log, stderr=log)
        wait_until(lambda: self.process.poll() is not None or self._answers(), "Prometheus answers")

    def _answers(self) -> bool:
        try:
            return bool(self.ask("vector(1)", ANSWER_S))
        except NO_ANSWER:
            return False

    @staticmethod
    def is_installed() -> bool:
        return shutil.which("prometheus") is not None

    def wait_until_it_has_scraped(self, times: int) -> None:
        """Of what was true before this call. Scrapes that came too late do not count."""

        def scraped() -> float:
            assert self.process.poll() is None, self.log.read_text()
            return self.value("sum(sum_over_time(up[1h]))") or 0

        before = scraped()
        wait_until(lambda: scraped() > before + times, "Prometheus scrapes the daemon")

    def ask(self, expression: str, timeout_s: float = LIMIT_S) -> list[dict[str, Any]]:
        """Time series; HTTPError: Prometheus does not understand the expression."""
        where = f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        with urllib.request.urlopen(where, timeout=timeout_s) as answer:
            told = json.loads(answer.read())
        assert told["status"] == "success", told
        result = told["data"]["result"]
        assert isinstance(result, list)
        return result

    def ask_patiently(self, expression: str) -> list[dict[str, Any]]:
        """Likewise, as soon as there are any: behind a scrape that came too late, there are none until the next one."""
        found: list[dict[str, Any]] = []

        def has_some() -> bool:
            found[:] = self.ask(expression)
            return bool(found)

        wait_until(has_some, f"something fits {expression}")
        return found

    def value(self, expression: str) -> float | None:
        """Of the first time series; None: there is none at present."""
        found = self.ask(expression)
        return float(found[0]["value"][1]) if found else None

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(LIMIT_S)
