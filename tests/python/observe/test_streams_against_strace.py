"""Streams of which it is hard to tell what they move, under strace: in programs with the library loaded in front,
and in static ones, whatever the compiler made of their calls."""

from pathlib import Path

import pytest
from recorded_program import compiled, recorded
from strace_comparison import INSIDE_MAPPED_STREAM, INSIDE_STATIC_PROGRAM, Comparison

from halcyon.observe.recording.preload import find_library

OPTIMISATIONS = ["-O0", "-O1", "-O2", "-O3"]
CHECKS = ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]


def compiled_for_static(source: str, folder: Path, *options: str) -> Path:
    halcyon_cc = find_library().parents[1] / "bin" / "halcyon-cc"
    if not halcyon_cc.exists():
        pytest.skip(f"no {halcyon_cc}")
    return compiled(source, folder, "-static", *options, compiler=str(halcyon_cc))


@pytest.mark.parametrize("optimisation", OPTIMISATIONS)
@pytest.mark.parametrize("checks", CHECKS)
def test_streams(compare: Comparison, optimisation: str, checks: str) -> None:
    assert compare(compiled("streams.c", compare.place, optimisation, checks), inside=[INSIDE_MAPPED_STREAM]) == []


@pytest.mark.parametrize("optimisation", OPTIMISATIONS)
@pytest.mark.parametrize("checks", CHECKS)
def test_streams_of_static_programs(compare: Comparison, optimisation: str, checks: str) -> None:
    program = compiled_for_static("streams.c", compare.place, optimisation, checks)
    assert compare(program, inside=[INSIDE_MAPPED_STREAM, *INSIDE_STATIC_PROGRAM]) == []


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
