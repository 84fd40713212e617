"""Daemons of tests, which end with them, and a Slurm for the whole session."""

import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster import Cluster, raised_cluster, unavailable
from coordinator_process import PATIENT, CoordinatorProcess
from elected_pair import Pair
from etcd_process import EtcdProcess
from started_programs import end_programs
from stepping_clock import FAKETIME, SteppingClock
from turn_programs import Program, ended

from halcyon.compiled import load_compiled
from halcyon.coordinate.configuration import find_program
from halcyon.errors import UnavailableError


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    end_programs()


@pytest.fixture
def prepare() -> Iterator[Callable[..., CoordinatorProcess]]:
    """Makes a daemon that does not run yet."""
    try:
        find_program()
    except UnavailableError as why:
        pytest.skip(str(why))
    made: list[CoordinatorProcess] = []

    def prepared(**settings: object) -> CoordinatorProcess:
        # Other users connect, too, and names of sockets are short.
        made.append(CoordinatorProcess(Path(tempfile.mkdtemp(prefix="coordinator-")), **settings))
        return made[-1]

    yield prepared
    for one in made:
        if one.process is not None and one.process.poll() is None:
            one.signal(signal.SIGCONT)
            one.kill()
        shutil.rmtree(one.folder)


@pytest.fixture
def start(prepare: Callable[..., CoordinatorProcess]) -> Callable[..., CoordinatorProcess]:
    """Starts a daemon with these settings."""

    def started(**settings: object) -> CoordinatorProcess:
        made = prepare(**settings)
        made.start()
        return made

    return started


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def run(scratch: Path) -> Iterator[Callable[..., Program]]:
    """Starts a program, which takes turns at `scratch`."""
    try:
        load_compiled("_turns")
    except UnavailableError as why:
        pytest.skip(str(why))
    programs: list[Program] = []

    def started(of: CoordinatorProcess | None, job: str, at: Path = scratch, **more: object) -> Program:
        programs.append(Program(at, of.config if of else None, job, **more))  # type: ignore[arg-type]
        return programs[-1]

    with ended(programs):
        yield started


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Slurm, with Halcyon's plugin, prolog and epilog; nobody coordinates its jobs."""
    if why := unavailable():
        pytest.skip(why)
    folder = Path(tempfile.mkdtemp(prefix="cluster-"))
    try:
        with raised_cluster(folder) as standing:
            yield standing
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def coordinated(cluster: Cluster) -> Iterator[Cluster]:
    """The same, with a coordinator of its file system that forgives silence."""
    cluster.daemon.configure(paths=[str(cluster.scratch)], times=PATIENT | {"dead": "10 min"})
    cluster.daemon.start()
    yield cluster
    cluster.daemon.kill()


@pytest.fixture
def etcd() -> Iterator[EtcdProcess]:
    """It runs."""
    if not EtcdProcess.is_installed():
        pytest.skip("needs etcd, of Debian's package etcd-server")
    # On a disk that is busy, etcd may take seconds to renew a lease.
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="etcd-", dir=memory if memory.is_dir() else None))
    made = EtcdProcess(folder)
    made.start()
    yield made
    made.kill()
    shutil.rmtree(folder)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder `scratch`, in one of its own, whose caches are clean at once."""
    folder = Path(tempfile.mkdtemp(prefix="memory-", dir="/dev/shm"))
    (folder / "scratch").mkdir()
    yield folder / "scratch"
    shutil.rmtree(folder)


@pytest.fixture
def pair(prepare: Callable[..., CoordinatorProcess], etcd: EtcdProcess) -> Callable[..., Pair]:
    """Makes two daemons that do not run yet."""
    return lambda **settings: Pair(prepare, etcd, **settings)


@pytest.fixture
def clock(tmp_path: Path) -> SteppingClock:
    if FAKETIME is None or shutil.which("env") is None:
        pytest.skip("needs libfaketime, of Debian's package libfaketime")
    return SteppingClock(tmp_path)
