"""The page on the analysis tells each threshold as it is."""

import re
from dataclasses import asdict
from pathlib import Path

from halcyon.observe.analysis.settings import Settings

PAGE = Path(__file__).parents[4] / "docs" / "analysis.md"


def test_the_page_tells_every_threshold_as_it_is() -> None:
    section = PAGE.read_text(encoding="utf-8").split("### Thresholds")[1].split("\n## ")[0]
    told = re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", section, re.MULTILINE)
    assert len(told) == len({name for name, _ in told})
    assert {name: float(value) for name, value in told} == {
        name: float(value) for name, value in asdict(Settings()).items()
    }
