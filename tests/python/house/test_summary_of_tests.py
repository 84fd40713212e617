"""What `make test` prints last: every runner's results, and why tests were skipped."""

from itertools import takewhile
from pathlib import Path

import pytest

import test_summary

CTEST = """<testsuite name="x">
<testcase name="ring" classname="ring" status="run"><system-out>fine</system-out></testcase>
<testcase name="store" classname="store" status="fail"><failure message=""/><system-out>x</system-out></testcase>
<testcase name="spack" classname="spack" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
<system-out>looking for spack
no spack on this machine
</system-out></testcase>
<testcase name="gone" classname="gone" status="notrun"><skipped message="Unable to find executable"/></testcase>
</testsuite>"""

CASES = """<testsuites><testsuite name="ring">
<testcase name="refuses_when_full" classname="ring" status="run"/>
<testcase name="keeps_order" classname="ring" status="run"/>
<testcase name="huge_pages" classname="ring" status="run">
<skipped message="ring_test.cpp:3&#x0A;no huge pages here"/></testcase>
</testsuite></testsuites>"""

PYTEST = """<testsuites><testsuite name="pytest">
<testcase classname="tests.a" name="test_one"/>
<testcase classname="tests.a" name="test_two"><skipped type="pytest.skip" message="no mpi4py">x</skipped></testcase>
<testcase classname="tests.a" name="test_three"><failure message="1 != 2">…</failure></testcase>
<testcase classname="tests.a" name="test_four"><error message="fixture">…</error></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


def test_programs_of_gtest_are_counted_case_by_case(results: Path, tmp_path: Path) -> None:
    (results / "ctest-release.xml").write_text(CTEST)
    cases = tmp_path / "release" / "Testing" / "cases"
    cases.mkdir(parents=True)
    (cases / "ring.xml").write_text(CASES)
    outcomes = test_summary.collect(results, [tmp_path / "release"])
    ring = [(o.name, o.end, o.reason) for o in outcomes if o.name.startswith("ring")]
    assert ring == [
        ("ring.refuses_when_full", "passed", ""),
        ("ring.keeps_order", "passed", ""),
        ("ring.huge_pages", "skipped", "no huge pages here"),
    ]


def test_a_failed_program_counts_as_failed_even_when_its_cases_passed(results: Path, tmp_path: Path) -> None:
    (results / "ctest-release.xml").write_text(CTEST)
    cases = tmp_path / "release" / "Testing" / "cases"
    cases.mkdir(parents=True)
    (cases / "store.xml").write_text(CASES)  # rank 0's cases passed, rank 1 crashed
    outcomes = test_summary.collect(results, [tmp_path / "release"])
    assert [o.name for o in outcomes if o.end == "failed"] == ["store", "gone"]
    assert sum(o.end == "passed" for o in outcomes) == 3


def test_a_report_cut_short_is_a_failure_and_not_a_crash(results: Path, tmp_path: Path) -> None:
    (results / "ctest-release.xml").write_text(CTEST)
    cases = tmp_path / "release" / "Testing" / "cases"
    cases.mkdir(parents=True)
    (cases / "store.xml").write_text(CASES[:80])
    outcomes = test_summary.collect(results, [tmp_path / "release"])
    assert ("store", "failed") in [(o.name, o.end) for o in outcomes]


def test_a_skipped_script_says_why_in_its_last_line(results: Path) -> None:
    (results / "ctest-release.xml").write_text(CTEST)
    outcomes = test_summary.collect(results, [])
    assert [(o.name, o.reason) for o in outcomes if o.end == "skipped"] == [("spack", "no spack on this machine")]


def test_a_program_that_could_not_start_is_a_failure(results: Path) -> None:
    (results / "ctest-release.xml").write_text(CTEST)
    assert ("gone", "failed") in [(o.name, o.end) for o in test_summary.collect(results, [])]


def test_last_line_sums_up_all_runners(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (results / "ctest-release.xml").write_text(CTEST)
    (results / "pytest.xml").write_text(PYTEST)
    (results / "left-out.txt").write_text("paraview_reads_view\n")
    status = test_summary.main([str(results)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "2 passed, 4 failed, 3 skipped"
    assert "skipped: [pytest] tests.a::test_two: no mpi4py" in lines
    assert "skipped: [ctest] paraview_reads_view: needs large extras, or takes long: make test-full" in lines
    assert status == 1


def test_exit_status_is_zero_when_nothing_failed(results: Path) -> None:
    (results / "ctest-release.xml").write_text(CTEST.replace('"fail"', '"run"').replace("Unable", "SKIP_"))
    assert test_summary.main([str(results)]) == 0


TIMED_CTEST = """<testsuite name="x">
<testcase name="ring" classname="ring" time="40" status="run"/>
<testcase name="world" classname="world" time="31.25" status="run"/>
<testcase name="spack" classname="spack" time="7.5" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
<testcase name="store" classname="store" time="12" status="fail"><failure message=""/></testcase>
</testsuite>"""

TIMED_CASES = """<testsuites><testsuite name="ring">
<testcase name="keeps_order" classname="ring" status="run" time="38.5"/>
<testcase name="refuses_when_full" classname="ring" status="run" time="0"/>
</testsuite></testsuites>"""

TIMED_VIEWER = """<testsuites name="vitest tests"><testsuite name="src/shell.test.ts">
<testcase classname="src/shell.test.ts" name="draws a page" time="0.125"/>
</testsuite></testsuites>"""


def listed(text: str) -> list[str]:
    """The lines behind `slowest tests:`, which begin with spaces."""
    lines = text.splitlines()
    behind = lines[lines.index("slowest tests:") + 1 :] if "slowest tests:" in lines else []
    return list(takewhile(lambda line: line.startswith(" "), behind))


def test_the_slowest_tests_of_all_runners_are_listed(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "ctest-release.xml").write_text(TIMED_CTEST)
    cases = tmp_path / "release" / "Testing" / "cases"
    cases.mkdir(parents=True)
    (cases / "ring.xml").write_text(TIMED_CASES)
    (results / "pytest.xml").write_text(PYTEST.replace('name="test_three"', 'name="test_three" time="20.004"'))
    (results / "viewer.xml").write_text(TIMED_VIEWER)
    test_summary.main([str(results), str(tmp_path / "release")])
    assert listed(capsys.readouterr().out) == [
        "    38.50 s  [ctest-release] ring.keeps_order",
        "    31.25 s  [ctest-release] world",
        "    20.00 s  [pytest] tests.a::test_three",
        "    12.00 s  [ctest-release] store",
        "     7.50 s  [ctest-release] spack",
        "     0.12 s  [viewer] src/shell.test.ts::draws a page",
    ]


def test_of_many_tests_the_slowest_twenty_are_listed(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = [f'<testcase classname="a" name="test_{number}" time="{number}"/>' for number in range(1, 31)]
    (results / "pytest.xml").write_text(f"<testsuites><testsuite>{''.join(many)}</testsuite></testsuites>")
    test_summary.main([str(results)])
    names = [line.rpartition("::")[2] for line in listed(capsys.readouterr().out)]
    assert names == [f"test_{number}" for number in range(30, 10, -1)]


def test_reports_without_times_list_no_slowest_tests(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (results / "pytest.xml").write_text(PYTEST)
    test_summary.main([str(results)])
    assert "slowest" not in capsys.readouterr().out


def test_the_end_tells_how_long_each_part_took_and_what_failed(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "ctest-release.xml").write_text(TIMED_CTEST)
    (results / "pytest.xml").write_text(PYTEST)
    (results / "parts.txt").write_text("24 set-up\n546 build release\n3 tests that tell by a clock\n")
    test_summary.main([str(results)])
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "minutes: set-up 0.4, build release 9.1, tests that tell by a clock 0.1; in all 9.6",
        "failed: [ctest-release] store",
        "failed: [pytest] tests.a::test_three",
        "failed: [pytest] tests.a::test_four",
        "3 passed, 3 failed, 2 skipped",
    ]


def test_no_minutes_are_listed_where_nobody_told_them(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (results / "pytest.xml").write_text(PYTEST)
    test_summary.main([str(results)])
    assert "minutes" not in capsys.readouterr().out
