"""What a recording tells of a program is what the kernel saw of it: the same run under strace, call by call."""

import os
import shutil

import pytest
from recorded_program import compiled
from strace_comparison import INSIDE_REALPATH, Comparison


def test_tar(compare: Comparison) -> None:
    (compare.directory / "a").write_bytes(b"x" * 300_000)
    (compare.directory / "b").mkdir()
    (compare.directory / "b" / "c").write_text("small")
    assert compare("bash", "-c", "tar cf all.tar a b && mkdir out && tar xf all.tar -C out") == []


def test_copying_moving_and_removing(compare: Comparison) -> None:
    (compare.directory / "a").write_bytes(os.urandom(200_000))
    script = "cp a b; cp --sparse=never --reflink=never a c; mkdir d; mv b d/; mv d e; ln c f; ln -s c g; rm f; rm -r e"
    assert compare("bash", "-c", script) == []


def test_shell_redirections(compare: Comparison) -> None:
    script = """
        echo one > a; echo two >> a; cat < a > b; exec 5<>c; echo three >&5; read -r word < a
        (echo in a subshell; pwd) > d; for i in 1 2 3; do echo $i; done | sort -r > e; sed -i s/one/1/ a
        test -e a && test ! -e nothing; cd /; cat b 2> /dev/null; exec 5>&-
    """
    assert compare("bash", "-c", script) == []


def test_appending_processes(compare: Comparison) -> None:
    script = "for i in 1 2 3 4; do (for j in $(seq 50); do echo $i $j >> all; done) & done; wait"
    assert compare("bash", "-c", script) == []


def test_dd(compare: Comparison) -> None:
    script = """
        dd if=/dev/zero of=a bs=64k count=10 oflag=direct; dd if=a of=b bs=4k skip=3 seek=5 conv=notrunc,fsync
        dd if=a of=b bs=10k count=3 oflag=append conv=notrunc; truncate -s 5000 b; fallocate -l 10000 c; sync b
    """
    assert compare("bash", "-c", script) == []


def test_sort_with_temporary_files(compare: Comparison) -> None:
    (compare.directory / "a").write_text("".join(f"{i * 7919 % 100_003}\n" for i in range(100_000)))
    assert compare("sort", "-n", "-S", "64k", "-T", ".", "-o", "b", "a", "--parallel=1") == []


def test_find_and_perl(compare: Comparison) -> None:
    for i in range(20):
        (compare.directory / f"d{i}").mkdir()
        (compare.directory / f"d{i}" / "file").write_text("x" * i)
    script = """find . -type f -size -10 -exec cat {} + > all
        perl -e 'open(F, "+<", "all"); seek(F, 3, 0); read(F, $x, 10); seek(F, 0, 2); print F "end\\n"; close F;
                 open(G, ">>", "all"); syswrite(G, "raw", 3); close G; unlink("d3/file"); rename("all", "some")'"""
    assert compare("bash", "-c", script) == []


def test_git(compare: Comparison) -> None:
    script = """git init -q . && echo text > a && git add a && git -c user.name=n -c user.email=e commit -qm one &&
        git status > /dev/null && git gc -q"""
    assert compare("bash", "-c", script) == []


def test_compiling(compare: Comparison) -> None:
    (compare.directory / "a.c").write_text('#include <stdio.h>\nint main(void) { return puts("x") < 0; }\n')
    assert compare("gcc", "-O1", "-o", "a", "a.c", inside=[INSIDE_REALPATH]) == []


@pytest.mark.parametrize("end", ["err", "verrx", "error", "error_at_line"])
def test_messages_to_standard_error(compare: Comparison, end: str) -> None:
    program = compiled("messages.c", compare.place)
    script = f"{program} {end} > out 2> said; {program} {end} buffered > both 2>&1; {program} {end} >> all 2>> all; :"
    assert compare("bash", "-c", script) == []


PYTHON = """
import csv, mmap, os, pathlib, shutil, sqlite3, subprocess, sys, multiprocessing
def work(i):
    with open(f"part{i}", "w") as f: f.write("p" * 10000 * i)
def main():
    for mode in ("w", "a", "r", "r+", "w+", "a+", "wb", "rb", "ab+"):
        with open("modes", mode) as f:
            data = b"bytes" if "b" in mode else "text"
            if f.writable(): f.write(data)
            if f.readable(): f.seek(0); f.read()
    with open("raw", "wb", buffering=0) as f:
        f.write(b"x" * 1000); f.seek(10); f.write(b"y"); f.truncate(500); os.fsync(f.fileno())
    fd = os.open("raw", os.O_RDWR)
    os.pwrite(fd, b"abc", 100); os.pread(fd, 50, 20); os.preadv(fd, [bytearray(5), bytearray(6)], 3)
    os.pwritev(fd, [b"12", b"345"], 7); os.writev(fd, [b"6", b"78"]); os.readv(fd, [bytearray(3)])
    os.pwritev(fd, [b"flagged"], 50, 0); os.posix_fadvise(fd, 0, 10, os.POSIX_FADV_DONTNEED)
    os.posix_fallocate(fd, 0, 5000); os.lockf(fd, os.F_LOCK, 10); os.lockf(fd, os.F_ULOCK, 10)
    other = os.open("copied", os.O_RDWR | os.O_CREAT)
    os.sendfile(other, fd, 0, 300); os.copy_file_range(fd, other, 200); os.lseek(other, 0, os.SEEK_SET)
    with mmap.mmap(fd, 4096) as m: m[0:5] = b"mmap!"; m.flush()
    for d in (fd, other): os.close(d)
    pathlib.Path("tree/deep").mkdir(parents=True); pathlib.Path("tree/deep/file").write_text("t")
    shutil.copytree("tree", "tree2"); shutil.copy2("raw", "raw2"); shutil.move("raw2", "raw3"); shutil.rmtree("tree")
    list(os.scandir(".")); list(os.walk("."))
    with open("t.csv", "w", newline="") as f: csv.writer(f).writerows([[i, i * i] for i in range(5000)])
    db = sqlite3.connect("t.db"); db.execute("create table t(a)")
    db.executemany("insert into t values (?)", [(i,) for i in range(3000)]); db.commit(); db.close()
    subprocess.run(["sh", "-c", "echo child >> modes"], check=True)
    subprocess.run("cat modes > modes2", shell=True, check=True)
if __name__ == "__main__":
    main()
    for how in sys.argv[1:]:
        with multiprocessing.get_context(how).Pool(2) as pool:
            pool.map(work, range(3))
            pool.close(); pool.join()  # else a worker that is still starting is killed, within any of its calls
"""


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_python(compare: Comparison, how: str) -> None:
    (compare.directory / "program.py").write_text(PYTHON)
    assert compare("/usr/bin/python3", "program.py", how) == []


def test_sqlite(compare: Comparison) -> None:
    script = """sqlite3 t.db 'pragma journal_mode=wal; create table t(a,b);
        insert into t values(1,2),(3,4); select * from t;'
        sqlite3 t.db 'vacuum; delete from t;'"""
    assert compare("bash", "-c", script) == []


@pytest.mark.parametrize("engine", ["psync", "pvsync", "sync", "pvsync2", "vsync"])
def test_fio(compare: Comparison, engine: str) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    command = f"fio --name=j --ioengine={engine} --rw=randrw --bs=4k --size=512k --filename=data --thread --numjobs=2"
    # What it loads looks at its own directory, inside the C library.
    found = compare(*command.split(), "--output=/dev/null")
    assert [line for line in found if not line.startswith(f"{compare.directory} ")] == []
