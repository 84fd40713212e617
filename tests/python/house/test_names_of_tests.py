"""Test modules lie in folders that are no packages: two of one name cannot be collected in one run."""

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_no_two_modules_of_tests_have_one_name() -> None:
    names = Counter(path.name for path in TESTS.rglob("*.py") if path.name not in ("conftest.py", "__init__.py"))
    assert [name for name, times in names.items() if times > 1] == []
