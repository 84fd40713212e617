"""What is created has the mode that the umask leaves, and nothing else of the process sees that."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from logfs.logged import Place, both

MODES = """cd "$1"
for mask in 000 022 027 077 111 117 133 177 277 333; do
    umask $mask
    echo text > f$mask; mkdir d$mask; mktemp m$mask.XXXXXX > name; python3 -c 'import os, sys
os.close(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY, 0o4751))
os.mknod(sys.argv[1] + "n", 0o640)' p$mask
    sh -c 'umask 022; echo more >> f'$mask
    stat -c '%a' f$mask d$mask "$(cat name)" p$mask p${mask}n
    cat f$mask
    umask
    rm -f name
done"""


def modes(place: Place, user: int) -> str:
    os.chown(place.directory, user, user)
    done = place.shell(MODES, user=user, group=user, extra_groups=[])
    return done.stdout + done.stderr


@pytest.mark.parametrize("user", [0, 1234])
def test_modes_are_those_of_plain_files(tmp_path: Path, user: int) -> None:
    if os.geteuid() != 0:
        pytest.skip("another user needs root")
    for above in (tmp_path, *tmp_path.parents):
        if above.owner() == "root" and above.stat().st_mode & 0o001 == 0:
            above.chmod(above.stat().st_mode | 0o011)
    plain, logged = both(tmp_path)
    expected = modes(plain, user)
    assert "644" in expected
    assert modes(logged, user) == expected
    assert len(logged.containers()) == 40
    assert logged.left() == []


def test_no_call_changes_the_umask_for_a_moment(tmp_path: Path) -> None:
    """It is one of all threads: two that change it and give it back may leave it changed for good."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("there is no strace")
    script = """import os, sys
os.chdir(sys.argv[1])
for flags in (os.O_RDONLY | os.O_CREAT, os.O_RDONLY, os.O_RDWR | os.O_CREAT):
    os.close(os.open('f', flags))
os.mkdir('d')
os.mknod('n')
os.listdir('.')
"""
    logged = both(tmp_path)[1]
    seen = tmp_path / "seen"
    words = [strace, "-f", "-qq", "-e", "trace=umask,mknod,mknodat,mkdir,mkdirat", "-o", seen]
    variables = [word for name, value in logged.variables.items() for word in ("-E", f"{name}={value}")]
    done = subprocess.run([*words, *variables, "python3", "-c", script, logged.directory], capture_output=True,
                          text=True, check=False)  # fmt: skip
    if "ptrace" in done.stderr:
        pytest.skip(f"strace cannot: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert logged.containers() == {"f", "n"}
    calls = seen.read_text()
    assert "mkdir" in calls
    assert "umask(" not in calls
