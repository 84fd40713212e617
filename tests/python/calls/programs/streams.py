"""Streams as Python has them, and those of the C library that Python code calls by itself. The first argument: a
directory; standard output, standard error and standard input are files."""

import ctypes
import io
import os
import subprocess
import sys
from pathlib import Path

PLACE = Path(sys.argv[1])


def main() -> None:
    print(sys.stdin.readline().strip(), sys.stdin.isatty())
    with (PLACE / "text").open("w+", encoding="utf-8", buffering=100) as text:
        for i in range(2000):
            print(i, "äßé€", file=text)
        text.seek(0)
        print(sum(len(line) for line in text), text.tell())
        place = text.seek(1000)
        print(place, text.readline())
        text.truncate(1000)
    print((PLACE / "text").stat().st_size)
    with (PLACE / "text").open("r+b", buffering=0) as raw:
        print(raw.write(b"raw"), raw.seek(-3, io.SEEK_END), raw.read())
    with (PLACE / "text").open("ab") as more:
        more.write(b"more" * 10000)
        more.flush()
        print(more.tell(), os.fstat(more.fileno()).st_size)
    print(subprocess.run(["wc", "-c"], stdin=(PLACE / "text").open(), capture_output=True, check=True).stdout)
    sys.stdout.flush()
    subprocess.run(["echo", "by a program"], check=True)
    print("to standard error", file=sys.stderr)

    # The program's functions, which a wrapper stands in front of, and the C library's own.
    for library in (ctypes.CDLL(None, use_errno=True), ctypes.CDLL("libc.so.6", use_errno=True)):
        opened = ctypes.CDLL(None)
        opened.fopen.restype = ctypes.c_void_p
        stream = ctypes.c_void_p(opened.fopen(bytes(PLACE / "by C"), b"w+"))
        library.fputs(b"words\n", stream)
        library.fprintf(stream, b"%d %s\n", 7, b"more words")
        library.rewind(stream)
        line = ctypes.create_string_buffer(100)
        library.fgets.restype = ctypes.c_char_p
        print(library.fgets(line, 100, stream), library.ftell(stream), library.fclose(stream))
        print((PLACE / "by C").read_bytes())
        sys.stdout.flush()
        library.printf(b"printed %d\n", 8)
        library.fflush(None)


main()
