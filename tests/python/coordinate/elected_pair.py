"""Two daemons of one file system, of which etcd elects one."""

import re
from collections.abc import Callable

from coordinator_process import BASE, CoordinatorProcess, wait_until
from etcd_process import EtcdProcess

Prepare = Callable[..., CoordinatorProcess]

TIMES = BASE["times"] | {"dead": "5 s"}
"""Agents that were late believe that the daemon is silent, and leave it to come back."""


class Pair:
    """Two daemons that share a configuration, but for where they listen."""

    def __init__(self, prepare: Prepare, etcd: EtcdProcess, **settings: object) -> None:
        self.etcd = etcd
        self.daemons = [prepare(), prepare()]
        self.configure(**settings)

    def configure(self, lease: str = "60 s", **settings: object) -> None:
        """`lease` at etcd: short where a leader dies and cannot give it back, else long, since a busy machine renews it
        late."""
        addresses = [str(one.address) for one in self.daemons]
        elect = {"etcd": [self.etcd.url], "lease": lease}
        for one in self.daemons:
            of_its_own = {"address": addresses, "listen": [str(one.address)], "elect": elect, "times": TIMES}
            one.configure(**(of_its_own | settings))

    def start(self) -> "Pair":
        """The one that leads becomes the first: it may lose a short lease while the other one starts."""
        for one in self.daemons:
            one.start()
            wait_until(lambda: any(map(leads, self.daemons)), "one of them leads")
        self.daemons.sort(key=leads, reverse=True)
        return self

    @property
    def first(self) -> CoordinatorProcess:
        return self.daemons[0]

    @property
    def second(self) -> CoordinatorProcess:
        return self.daemons[1]


def leads(of: CoordinatorProcess) -> bool:
    try:
        return gauge(of, "leads") == 1
    except OSError:  # it has just been started
        return False


def gauge(of: CoordinatorProcess, name: str) -> float:
    found = re.search(rf"^halcyon_coordinator_{name}{{[^}}]*}} (\S+)$", of.metrics(), re.MULTILINE)
    assert found, name
    return float(found[1])
