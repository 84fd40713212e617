"""Two daemons of one file system, of which etcd elects one."""

import re
from collections.abc import Callable

from coordinator_process import CoordinatorProcess, wait_until
from etcd_process import EtcdProcess

Prepare = Callable[..., CoordinatorProcess]


class Pair:
    """Two daemons that share a configuration, but for where they listen."""

    def __init__(self, prepare: Prepare, etcd: EtcdProcess, **settings: object) -> None:
        self.etcd = etcd
        self.daemons = [prepare(), prepare()]
        self.configure(**settings)

    def configure(self, lease: str = "3 s", **settings: object) -> None:
        addresses = [str(one.address) for one in self.daemons]
        elect = {"etcd": [self.etcd.url], "lease": lease}
        for one in self.daemons:
            one.configure(**({"address": addresses, "listen": [str(one.address)], "elect": elect} | settings))

    def start(self) -> "Pair":
        for one in self.daemons:
            one.start()
            wait_until(lambda: leads(self.daemons[0]), "the first one leads")
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
