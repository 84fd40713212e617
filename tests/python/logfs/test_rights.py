"""Who may write a container, or make one, leads nobody else to what that user may not have."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from logfs.logged import Place, halcyon
from logfs.mounted_backend import mounted, program

USER = 1234
OTHER = 2345


def as_user(*words: object, user: int = USER, groups: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], user=user, group=user, extra_groups=groups, umask=0o022,
                          capture_output=True, text=True, check=False)  # fmt: skip


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    """A folder that all may enter."""
    if os.geteuid() != 0:
        pytest.skip("other users need root")
    for above in (tmp_path, *tmp_path.parents):
        if above.owner() == "root" and above.stat().st_mode & 0o001 == 0:
            above.chmod(above.stat().st_mode | 0o011)
    tmp_path.chmod(0o755)
    return tmp_path


@dataclass
class Targets:
    """What belongs to root, as it was."""

    secret: Path
    folder: Path
    created: Path

    def expect_untouched(self) -> None:
        assert self.secret.read_bytes() == b"secret" * 100
        parts = [(self.folder / name, 0o600) for name in ("empty", "passwords")]
        for path, mode in ((self.secret, 0o600), (self.folder, 0o700), *parts):
            status = path.stat()
            assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (0, 0, mode), path
        assert sorted(each.name for each in self.folder.iterdir()) == ["empty", "passwords"]
        assert (self.folder / "empty").stat().st_size == 0
        assert not self.created.exists()


@pytest.fixture
def targets(opened: Path) -> Iterator[Targets]:
    made = Targets(opened / "secret", opened / "roots", opened / "created")
    made.secret.write_bytes(b"secret" * 100)
    made.secret.chmod(0o600)
    made.folder.mkdir(mode=0o700)
    for name, text in (("empty", ""), ("passwords", "words")):
        (made.folder / name).write_text(text)
        (made.folder / name).chmod(0o600)
    yield made
    made.expect_untouched()


def container_of(user: int, backend: Path) -> Path:
    """A file below the backend, in a folder of that user."""
    own = backend / "own"
    own.mkdir(exist_ok=True)
    os.chown(own, user, user)
    place = Place(backend, is_logged=True)
    done = place.shell('cd "$1/own"; umask 022; echo text > file', user=user, group=user, extra_groups=[])
    assert done.returncode == 0, done.stderr
    return own / "file"


PLANTED: dict[str, Callable[[Targets], Path]] = {
    "times": lambda all_: all_.secret,
    "punched": lambda all_: all_.secret,
    "append-lock": lambda all_: all_.created,
    "hostdir.3": lambda all_: all_.folder,
    **{f"hostdir.{number}": lambda all_: all_.folder for number in range(4, 32)},
}


def plant(container: Path, targets: Targets) -> None:
    """Links in a container, by whom it belongs to."""
    for name, target in PLANTED.items():
        if (container / name).is_file():
            (container / name).unlink()
        if not (container / name).exists():
            (container / name).symlink_to(target(targets))
            os.lchown(container / name, USER, USER)


# What changes all of a container: each may fail, and must not reach what the links lead to.
CHANGES = 'cd "$1"; touch file; chmod 666 file; chmod 644 file; echo more >> file; chown {owner} file; cat file'


def test_links_in_a_container_lead_the_mount_nowhere(opened: Path, targets: Targets) -> None:
    program()
    with mounted(opened, "--allow-other") as (backend, mount):
        plant(container_of(USER, backend), targets)
        as_user("sh", "-c", CHANGES.format(owner=USER), "sh", mount / "own")
        targets.expect_untouched()
        subprocess.run(["sh", "-c", CHANGES.format(owner=OTHER), "sh", mount / "own"], check=False)


def test_links_in_a_container_lead_root_nowhere(opened: Path, targets: Targets) -> None:
    backend = opened / "backend"
    backend.mkdir()
    container = container_of(USER, backend)
    plant(container, targets)
    place = Place(backend, is_logged=True)
    script = CHANGES.replace('cd "$1"', 'cd "$1/own"').format(owner=OTHER)
    place.shell(script + "; flock file true; chown -R 0:0 .")
    targets.expect_untouched()
    for words in (("punch",), ("repair",), ("drain", "--no-wait"), ("check",)):
        halcyon("log", *words, container)
        targets.expect_untouched()


def test_the_mount_has_the_rights_of_who_asks(opened: Path) -> None:
    program()
    with mounted(opened, "--allow-other") as (backend, mount):
        # The kernel asks the mount's own copy of a mode, which may be a second old; and who may write to a folder of
        # the backend may have put a link to another file's folder there.
        container_of(USER, backend)
        for name, mode, group in (("plain", 0o600, 0), ("readable", 0o640, 77)):
            (backend / name).write_text("text")
            (backend / name).chmod(mode)
            os.chown(backend / name, 0, group)
        assert as_user("cat", mount / "plain").returncode == 1
        assert as_user("cat", mount / "readable").returncode == 1
        assert as_user("cat", mount / "readable", groups=(77,)).stdout == "text"
        assert as_user("cat", mount / "own/file", user=OTHER).stdout == "text\n"
        assert as_user("sh", "-c", f"echo x >> {mount}/own/file", user=OTHER).returncode != 0
        assert as_user("chmod", "666", mount / "own/file", user=OTHER).returncode == 1
        assert as_user("touch", mount / "own/file", user=OTHER).returncode == 1
        assert as_user("rm", "-f", mount / "own/file", user=OTHER).returncode == 1


def test_a_file_of_the_mount_stays_its_owners_whoever_writes(opened: Path) -> None:
    program()
    with mounted(opened, "--allow-other") as (backend, mount):
        container = container_of(USER, backend)
        assert as_user("chmod", "666", mount / "own/file").returncode == 0
        assert as_user("sh", "-c", f"echo other >> {mount}/own/file", user=OTHER).returncode == 0
        with (mount / "own/file").open("a") as file:
            file.write("root\n")
        assert as_user("cat", mount / "own/file").stdout == "text\nother\nroot\n"
        assert {path.stat().st_uid for path in (container, *container.rglob("*"))} == {USER}
        # Its mode keeps its owner from it, but not from its mode.
        for mode in (0o000, 0o200):
            assert as_user("chmod", f"{mode:o}", mount / "own/file").returncode == 0
            assert (mount / "own/file").stat().st_mode & 0o777 == mode
            assert as_user("cat", mount / "own/file").returncode == 1
        done = as_user("chmod", "644", mount / "own/file")
        assert done.returncode == 0, done.stderr
        os.chown(mount / "own/file", OTHER, OTHER)
        assert {path.stat().st_uid for path in (container, *container.rglob("*"))} == {OTHER}
        assert as_user("sh", "-c", f"cat {mount}/own/file && echo new >> {mount}/own/file", user=OTHER).returncode == 0


def test_names_of_the_mount_go_as_the_folders_say(opened: Path) -> None:
    """A container is a directory, which the system gives another folder for those only who may write to it."""
    program()
    with mounted(opened, "--allow-other") as (backend, mount):
        for name, mode in (("first", 0o770), ("second", 0o770), ("sticky", 0o1777)):
            (mount / name).mkdir()
            os.chown(mount / name, 0, 77)
            (mount / name).chmod(mode)
        for number in range(3):
            assert as_user("sh", "-c", f"echo text > {mount}/first/{number}", groups=(77,)).returncode == 0
        assert as_user("mv", mount / "first/0", mount / "second/0", user=OTHER).returncode == 1
        done = as_user("mv", mount / "first/0", mount / "second/0", user=OTHER, groups=(77,))
        assert done.returncode == 0, done.stderr
        assert as_user("rm", "-f", mount / "first/1", user=OTHER, groups=(77,)).returncode == 0
        assert as_user("mv", mount / "first/2", mount / "sticky/2", groups=(77,)).returncode == 0
        for words in (("mv", mount / "sticky/2", mount / "first/2"), ("rm", "-f", mount / "sticky/2")):
            assert as_user(*words, user=OTHER, groups=(77,)).returncode == 1
        assert sorted(str(path.relative_to(backend)) for path in backend.glob("*/*")) == ["second/0", "sticky/2"]
    assert not list(backend.glob("**/.halcyon-removed-*"))


def test_a_host_directory_elsewhere_is_the_containers_own(opened: Path) -> None:
    """Else whoever reads the file, root for example, would be given another file's bytes."""
    backend, fast = opened / "backend", opened / "fast"
    for folder in (backend, fast):
        folder.mkdir()
        folder.chmod(0o1777)
    done = halcyon("run", "--log", backend, "--backends", fast, "--", "sh", "-c", f"echo mine > {backend}/mine",
                   user=OTHER, group=OTHER, extra_groups=[], cwd="/", env=os.environ | {"HOME": "/"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    [link] = [path for path in (backend / "mine").glob("hostdir.*") if path.is_symlink()]
    container = container_of(USER, backend)
    [own] = container.glob("hostdir.*")
    own.rename(container.parent / "aside")
    (container / link.name).symlink_to(link.readlink())
    place = Place(backend, is_logged=True)
    assert place.shell('cat "$1/mine"').stdout == "mine\n"
    done = place.shell('cat "$1/own/file"')
    assert done.stdout == ""
    assert "Too many levels of symbolic links" in done.stderr


def test_who_may_only_read_a_file_cannot_damage_it(opened: Path) -> None:
    backend = opened / "backend"
    backend.mkdir()
    container = container_of(USER, backend)
    place = Place(backend, is_logged=True)
    lock = "import fcntl, sys\nfile = open(sys.argv[1], sys.argv[2])\nfcntl.lockf(file, int(sys.argv[3]))"

    def use(mode: str) -> None:
        words = ("python3", "-c", lock, backend / "own/file", "r+", "2")
        assert place.run(*words, user=USER, group=USER, extra_groups=[], umask=0).returncode == 0
        script = f'cd "$1/own"; umask 0; chmod {mode} file; touch file; echo more >> file'
        assert place.shell(script, user=USER, group=USER, extra_groups=[]).returncode == 0

    for mode in ("666", "644"):
        use(mode)
        parts = [part for part in container.rglob("*") if part.is_file()]
        assert {"halcyon-descriptor", "times", "append-lock"} <= {part.name for part in parts}
        for part in parts:
            done = as_user("sh", "-c", 'test -w "$1" && echo', "sh", part, user=OTHER)
            is_shared = part.parent == container
            assert (done.stdout != "") == (mode == "666" and is_shared), part
    done = as_user("sh", "-c", 'echo x >> "$1"', "sh", container / "halcyon-descriptor", user=OTHER)
    assert "Permission denied" in done.stderr
    # Whoever may read it may lock it, to read it.
    done = place.run("python3", "-c", lock + "\nprint(file.read())", backend / "own/file", "r", "1", user=OTHER,
                     group=OTHER, extra_groups=[])  # fmt: skip
    assert done.stdout == "text\nmore\nmore\n\n", done.stderr


def test_access_is_asked_for_the_user_that_is_meant(opened: Path) -> None:
    script = """import ctypes, os, sys
libc = ctypes.CDLL(None)
os.setresuid(1234, 0, 0)
for mode in (os.F_OK, os.R_OK, os.W_OK):
    for name in ('roots', 'all', 'plain'):
        path = os.path.join(sys.argv[1], name)
        print(name, os.access(path, mode), os.access(path, mode, effective_ids=True), libc.eaccess(path.encode(), mode),
              libc.euidaccess(path.encode(), mode))
"""
    said = []
    for place in (Place(opened / "plain", is_logged=False), Place(opened / "logged", is_logged=True)):
        place.directory.mkdir()
        assert (
            place.shell('cd "$1"; for f in roots all; do echo > $f; done; chmod 600 roots; chmod 666 all').stderr == ""
        )
        (place.directory / "plain").touch(0o600)
        done = place.run("python3", "-c", script, place.directory)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1]
    assert "roots False True 0 0" in said[0]
