"""Shells, coreutils and their like do on log containers what they do on plain files."""

import hashlib
import random
import shutil
from pathlib import Path

import pytest
from logfs.logged import Place, both, same
from small_disk import small_disk

SIZE = 3_000_000


@pytest.fixture
def places(tmp_path: Path) -> tuple[Place, Place]:
    return both(tmp_path)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file with text and zeros, the same each time."""
    path = tmp_path / "source"
    generator = random.Random(7)
    lines = (f"{n} {generator.random()}\n".encode() for n in range(SIZE // 30))
    path.write_bytes(b"".join(lines) + bytes(500_000) + generator.randbytes(SIZE // 2))
    return path


def test_redirections_of_a_shell_are_containers(places: tuple[Place, Place]) -> None:
    script = """cd "$1"; seq 1000 > a; (echo b; echo c) >> a; { seq 5; cat; } > both 2>&1 < a
        seq 3 | tee tee >> more; exec 5> five; echo x >&5; seq 2 >&5; exec 5>&-; cat five more; wc -l a both tee
        sh -c 'exec seq 100 200 > exec'; tail -n 2 exec; sh -c 'echo in-place' > quoted; cat quoted"""
    same(places, script)
    assert places[1].containers() == {"a", "both", "tee", "more", "five", "exec", "quoted"}
    assert places[1].left() == []


def test_a_pipe_of_tar_and_dd_fills_one(places: tuple[Place, Place]) -> None:
    script = """cd "$1"; tar cf - -C / etc/passwd etc/hostname | dd of=t.tar bs=10240 status=none
        tar tf t.tar; tar xOf t.tar etc/passwd | cmp - /etc/passwd && echo same
        dd if=t.tar of=copy bs=1000 status=none; cmp t.tar copy && echo same"""
    assert same(places, script).stdout.count("same\n") == 2
    assert places[1].containers() == {"t.tar", "copy"}


READERS = {
    "md5sum": "md5sum < f",
    "cat": "cat f | md5sum",
    "cp": "cp f g && cmp f g && md5sum g",
    "head": "head -c 100000 f | md5sum",
    "tail": "tail -c 100000 f | md5sum; tail -n 3 f | md5sum",
    "grep": "grep -ac 77 f",
    "dd": "dd if=f bs=4096 skip=100 count=300 status=none | md5sum",
    "tar": "tar cf - --mtime=@0 f | md5sum",
    "wc": "wc -lc f",
    "ls": "ls f; ls -l f | awk '{print $1, $5}'",
    "find": "find . -type f -size +1000k; find . -type d",
    "stat": "stat -c '%s %F %h %a' f",
    "sed": "sed -n 500p f; sed -i '1s/^/first /' f; head -c 20 f",
    "sort": "head -n 2000 f | sort -n -o sorted; md5sum sorted",
    "split": "split -b 1000000 f part; ls part*; cat part* | cmp - f && echo joined",
    "truncate": "truncate -s 1234567 f; md5sum f; truncate -s +1000 f; tail -c 1001 f | md5sum",
    "mv": "mv f g; md5sum g; mkdir d; mv g d; md5sum d/g; ls; mv d e; md5sum e/g",
    "rm": "rm f; ls; rm f 2>&1 | sed 's/.*: //'; mkdir d; echo x > d/x; rm -r d; ls",
    "touch": "touch -d @1000 f; stat -c %Y f; touch empty; stat -c %s empty; stat -c %Y f",
    "chmod": "chmod 600 f; stat -c %a f; chmod u+x f; test -x f && echo executable",
    "ln": "ln -s f l; md5sum l; readlink l; rm l",
    "diff": "cp f g; echo more >> g; cmp f g; diff -q f g",
    "test": "test -f f && echo file; test -d f || echo no directory; test -s f && echo large",
    "rsync": "mkdir d; rsync -a f d/; cmp f d/f && echo same; ls d",
    "python3": 'python3 -c \'print(hash(open("f", "rb").read(1000)) and len(open("f", "rb").read()))\'',
    "gzip": "gzip -k f; gzip -dc f.gz | cmp - f && echo same",
}


@pytest.mark.parametrize("name", READERS)
def test_a_command_says_what_it_says_of_a_plain_file(places: tuple[Place, Place], source: Path, name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    same(places, f'cd "$1"; cat "$2" > f; {READERS[name]}', source)
    assert places[1].left() == []


def test_a_shell_that_execs_leaves_its_descriptors_to_the_program(places: tuple[Place, Place]) -> None:
    script = """cd "$1"; exec 7<> rw; echo 12345 >&7
        exec sh -c 'echo 67 >&7; exec python3 -c "import os; os.lseek(7, 2, 0); os.write(7, b\\"ab\\")
print(os.pread(7, 100, 0), os.lseek(7, 0, 1))"' """
    assert same(places, script).stdout == "b'12ab5\\n67\\n' 4\n"


def test_a_file_that_is_plain_stays_plain(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    (place.directory / "plain").write_text("before\n")
    (place.directory / "d").mkdir()
    script = 'cd "$1"; echo more >> plain; cat plain; echo x > d/logged; mv plain d/moved; cp d/moved copy; ls d'
    done = place.shell(script)
    assert done.stdout == "before\nmore\nlogged\nmoved\n", done.stderr
    assert (place.directory / "d/moved").read_text() == "before\nmore\n"
    assert place.containers() == {"d/logged", "copy"}


def test_moves_in_and_out_of_the_directory_copy(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    outside = tmp_path / "outside"
    outside.write_text("text\n")
    done = place.shell('mv "$2" "$1/in" && cat "$1/in" && mv "$1/in" "$2" && cat "$2"; ls "$1"', outside)
    assert done.stdout == "text\ntext\n", done.stderr
    assert outside.read_text() == "text\n"
    assert place.left() == []


def test_a_hard_link_is_refused_with_a_reason(tmp_path: Path) -> None:
    done = both(tmp_path)[1].shell('cd "$1"; echo x > f; ln f g; ls')
    assert done.stdout == "f\n"
    assert "Operation not permitted" in done.stderr


def test_a_lock_of_the_program_flock_lasts_as_long_as_the_shells_descriptor(places: tuple[Place, Place]) -> None:
    script = """cd "$1"; exec 9> lock; flock -n 9 && echo mine; (exec 8> lock; flock -n 8 || echo taken)
        exec 9>&-; (exec 8> lock; flock -n 8 && echo free)"""
    assert same(places, script).stdout == "mine\ntaken\nfree\n"


def test_many_files_and_few_descriptors(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    script = """import os, sys
os.chdir(sys.argv[1])
lowest = os.open('/dev/null', os.O_RDONLY)
files = [open(f'f{n}', 'w+b') for n in range(300)]
assert [f.fileno() for f in files] == list(range(lowest + 1, lowest + 301))
for n, f in enumerate(files):
    f.write(b'%d' % n)
    f.flush()
print(all(os.pread(f.fileno(), 9, 0) == b'%d' % n for n, f in enumerate(files)))
os.closerange(lowest + 1, 4096)
print(sum(open(f'f{n}').read() == str(n) for n in range(300)))
"""
    done = place.run("sh", "-c", 'ulimit -Sn 1024; exec python3 -c "$1" "$2"', "sh", script, place.directory)
    assert done.stdout == "True\n300\n", done.stderr


def test_what_a_killed_writer_wrote_is_there(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    script = """import os, signal, sys
fd = os.open(sys.argv[1] + '/f', os.O_CREAT | os.O_WRONLY)
for n in range(1000):
    os.pwrite(fd, b'%06d' % n, 6 * n)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert place.run("python3", "-c", script, place.directory).returncode == -9
    done = place.shell('md5sum < "$1/f"')
    expected = hashlib.md5(b"".join(b"%06d" % n for n in range(1000))).hexdigest()
    assert done.stdout.split()[0] == expected


def test_names_of_descriptors_open_the_file(places: tuple[Place, Place]) -> None:
    script = """cd "$1"; seq 5 > f; cat /dev/stdin < f; (read -r one; cat /dev/stdin) < f; cat /dev/fd/5 5< f
        cat /proc/self/fd/5 5< f; { echo long enough; echo x > /dev/stdout; } > g; cat g
        python3 -c 'print(open("/dev/stdin").read()); open("/dev/stdout", "a").write("more")' < f > h; cat h"""
    same(places, script)
    assert places[1].containers() == {"f", "g", "h"}


def test_a_full_disk_is_told_and_takes_more_once_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        place = Place(disk, is_logged=True)
        script = """cd "$1"; seq 1000 > kept; dd if=/dev/zero of=large bs=64k status=none; echo "status $?"
            md5sum < kept; wc -c < large; rm large; seq 1000 > again; cmp kept again && echo same"""
        done = place.shell(script)
        assert "No space left on device" in done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == "status 1"
        assert lines[1].split()[0] == hashlib.md5(b"".join(b"%d\n" % n for n in range(1, 1001))).hexdigest()
        assert int(lines[2]) > 1 << 20
        assert lines[3] == "same"
        assert place.left() == []
