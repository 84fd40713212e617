"""What Python does with files and their names. The first argument: a directory. Prints what came of it."""

import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLACE = sys.argv[1]


def run(command: str, **how: object) -> str:
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, **how)  # type: ignore[call-overload]
    return str(done.stdout) + str(done.stderr)


def main() -> None:
    top = f"{PLACE}/py"
    os.mkdir(top)
    data, other = Path(top, "a"), Path(top, "b")
    data.write_text("text\n" * 1000)
    print(data.stat().st_size)
    with data.open("r+b") as f:
        f.seek(10)
        f.write(b"PATCH")
        f.seek(0, 2)
        print(f.tell())
        f.seek(5)
        print(f.read(12))
    with data.open("ab") as f:
        f.write(b"tail")
        print(f.tell())
    print(data.read_bytes()[-8:])
    shutil.copyfile(data, other)
    print(data.read_bytes() == other.read_bytes())
    other.rename(f"{top}/c")
    print(sorted(os.listdir(top)), sorted((e.name, e.is_file()) for e in os.scandir(top)))
    print(sorted((where, sorted(folders), sorted(files)) for where, folders, files in os.walk(top)))
    with open(f"{top}/m", "w+b") as f:
        f.truncate(10000)
        with mmap.mmap(f.fileno(), 10000) as mapped:
            mapped[5000:5003] = b"abc"
            mapped.flush()
        f.seek(5000)
        print(f.read(3))
    print(subprocess.run(["cat", f"{top}/m"], capture_output=True, check=True).stdout[4999:5004])
    with open(f"{top}/out", "w") as f:
        subprocess.run(["sh", "-c", "echo one; echo two >&2"], stdout=f, stderr=subprocess.STDOUT, check=True)
    print(Path(top, "out").read_text())
    with open(f"{top}/out") as f:
        print(subprocess.run(["wc", "-l"], stdin=f, capture_output=True, text=True, check=True).stdout)
    shared = os.open(f"{top}/shared", os.O_CREAT | os.O_RDWR, 0o644)
    os.write(shared, b"12345")
    appended = os.open(f"{top}/appended", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
    child = os.fork()
    os.write(appended, b"child\n" if child == 0 else b"parent\n")
    if child == 0:
        os.write(shared, b"child")
        os._exit(0)
    os.waitpid(child, 0)
    os.write(shared, b"after")
    print(os.pread(shared, 100, 0), os.lseek(shared, 0, 1), sorted(Path(top, "appended").read_text().split()))
    os.close(shared)
    os.unlink(f"{top}/c")
    print(os.path.exists(f"{top}/c"))
    for fails in (lambda: open(f"{top}/none"), lambda: os.mkdir(top), lambda: os.rmdir(top), lambda: os.listdir(data)):
        try:
            fails()
        except OSError as error:
            print(error.errno)
    tempfile.mkdtemp(dir=top)
    with tempfile.NamedTemporaryFile(dir=top) as named:
        named.write(b"zz")
        named.flush()
        print(os.path.getsize(named.name))
    os.symlink("a", f"{top}/link")
    print(os.readlink(f"{top}/link"), os.path.islink(f"{top}/link"), os.lstat(f"{top}/link").st_size)
    data.chmod(0o600)
    os.utime(data, (1, 2))
    os.utime(f"{top}/link", (3, 4), follow_symlinks=False)
    os.lchown(f"{top}/link", os.getuid(), os.getgid())
    os.symlink("nowhere", f"{top}/dangling")
    os.utime(f"{top}/dangling", (5, 6), follow_symlinks=False)
    run(f"cd {top} && mkdir links && cp -P link dangling links && tar cf links.tar links")
    print(run(f"cd {top} && mkdir from && tar xf links.tar -C from && readlink from/links/dangling from/links/link"))
    print(data.stat().st_mtime, *(os.lstat(f"{top}/{name}").st_mtime for name in ("link", "dangling")))
    print(oct(data.stat().st_mode), data.stat().st_mtime)
    os.truncate(data, 7)
    print(data.read_text())
    before = os.getcwd()
    os.chdir(top)
    print(os.getcwd(), os.path.exists("a"), sorted(os.listdir(".")) == sorted(os.listdir(top)))
    print(run("pwd; cat a; ls -d a"))
    print(run("cat a; pwd", cwd="/etc"))
    os.chdir(before)
    print(run("pwd; cat a", cwd=top), os.getcwd() == before)
    shutil.rmtree(top)
    print(os.path.exists(top))


main()
