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
from etcd_process import free_port


class PrometheusProcess:
    """With its data in a folder of its own."""

    def __init__(self, folder: Path, of: CoordinatorProcess) -> None:
        at = re.search(r"metrics at tcp:(\S+)", of.log.read_text())
        assert at, "the daemon's metrics are at a TCP address"
        config = folder / "prometheus.yml"
        job = {"job_name": "halcyon", "scrape_interval": "200ms", "scrape_timeout": "200ms"}
        config.write_text(json.dumps({"scrape_configs": [job | {"static_configs": [{"targets": [at[1]]}]}]}))
        self.url = f"http://127.0.0.1:{free_port()}"
        given = {
            "config.file": config, "storage.tsdb.path": folder / "data", "log.level": "warn",
            "web.listen-address": self.url.removeprefix("http://"),
        }  # fmt: skip
        self.log = folder / "log"
        with self.log.open("wb") as log:
            words = [f"--{key}={value}" for key, value in given.items()]
            self.process = subprocess.Popen(["prometheus", *words], stdout=log, stderr=log)

    @staticmethod
    def is_installed() -> bool:
        return shutil.which("prometheus") is not None

    def wait_until_it_has_scraped(self, times: int) -> None:
        """Of what was true before this call."""

        def scraped() -> float:
            assert self.process.poll() is None, self.log.read_text()
            try:
                return self.value("sum(count_over_time(up[1h]))")
            except (OSError, IndexError):
                return 0

        before = scraped()
        wait_until(lambda: scraped() > before + times, "Prometheus scrapes the daemon")

    def ask(self, expression: str) -> list[dict[str, Any]]:
        """Time series; HTTPError: Prometheus does not understand the expression."""
        where = f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        with urllib.request.urlopen(where, timeout=LIMIT_S) as answer:
            told = json.loads(answer.read())
        assert told["status"] == "success", told
        result = told["data"]["result"]
        assert isinstance(result, list)
        return result

    def value(self, expression: str) -> float:
        """Of the first time series."""
        return float(self.ask(expression)[0]["value"][1])

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(LIMIT_S)
