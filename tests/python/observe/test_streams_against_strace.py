"""Streams of which it is hard to tell what they move, under strace: in programs with the library loaded in front,
and in static ones, whatever the compiler made of their calls."""

from pathlib import Path

import pytest
from recorded_program import compiled, recorded
from strace_comparison import INSIDE_MAPPED_STREAM, INSIDE_STATIC_PROGRAM, Comparison

from halcyon.layers.preload import find_library

_full = pytest.mark.full
OPTIMISATIONS = ["-O0", pytest.param("-O1", marks=_full), "-O2", pytest.param("-O3", marks=_full)]
CHECKS = ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]


def compiled_for_static(source: str, folder: Path, *options: str, compiler: str = "halcyon-cc") -> Path:
    named = find_library().parents[1] / "bin" / compiler
    if not named.exists():
        pytest.skip(f"no {named}")
    return compiled(source, folder, "-static", *options, compiler=str(named))


@pytest.mark.parametrize("optimisation", OPTIMISATIONS)
@pytest.mark.parametrize("checks", CHECKS)
def test_streams(compare: Comparison, optimisation: str, checks: str) -> None:
    assert compare(compiled("streams.c", compare.place, optimisation, checks), inside=[INSIDE_MAPPED_STREAM]) == []


@pytest.mark.parametrize("optimisation", OPTIMISATIONS)
@pytest.mark.parametrize("checks", CHECKS)
def test_streams_of_static_programs(compare: Comparison, optimisation: str, checks: str) -> None:
    program = compiled_for_static("streams.c", compare.place, optimisation, checks)
    assert compare(program, inside=[INSIDE_MAPPED_STREAM, *INSIDE_STATIC_PROGRAM]) == []


def test_streams_of_a_static_program_of_cpp(compare: Comparison) -> None:
    source = compare.place / "streams.cpp"
    source.write_text("""
        #include <cstdio>
        #include <fstream>
        #include <iostream>
        #include <string>
        int main() {
            std::ofstream out("lines");
            for (int i = 0; i < 5000; ++i) out << i << '\\n';
            out.close();
            std::ifstream in("lines");
            for (std::string line; std::getline(in, line);) std::cout << line.size();
            FILE* again = std::fopen("lines", "r");
            while (getc_unlocked(again) != EOF) {}
            std::fclose(again);
        }""")
    program = compiled_for_static(str(source), compare.place, "-O2", compiler="halcyon-c++")
    assert compare(program, inside=INSIDE_STATIC_PROGRAM) == []


def test_what_the_c_library_of_a_static_program_reads_for_itself_is_not_told(tmp_path: Path) -> None:
    source = tmp_path / "users.c"
    source.write_text("""
        #define _GNU_SOURCE
        #include <pwd.h>
        #include <stdio.h>
        #include <time.h>
        int main(void) {
            char* line = NULL;
            size_t room = 0;
            FILE* file = fopen("/etc/passwd", "r");
            tzset();
            return getpwnam("root") == NULL || getline(&line, &room, file) < 0 || fclose(file) != 0;
        }""")
    run = recorded([compiled_for_static(str(source), tmp_path, "-O2")], tmp_path / "run")
    assert run.code == 0, run.complaints
    calls = [(call["call"], call["path"]) for call in run.calls]
    assert calls == [(name, "/etc/passwd") for name in ("fopen", "getdelim", "stdio read", "fclose")]
