"""The table of studies of Δ-graphs: what it says about itself, and what the documentation says about it."""

import re
from pathlib import Path

import many_studies
import pytest
from delta_studies import LEAST_LARGER_S, MOST_LARGER_S, STUDIES

DOCS = Path(__file__).resolve().parents[3] / "docs/delta.md"
CACHE_MINUTES = 32
"""It has no limit: 21 runs of 84 s, and what is around them."""


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("a_alone_s", [5.0005, 6.4122, 7.0837, 8.1222, 9.9999])
def test_other_policies_are_measured_where_dynamic_is(study: str, a_alone_s: float) -> None:
    of = STUDIES[study]
    assert of.others, "set-10 at the least"
    assert "set-10" in of.others
    assert set(of.others_at.ns(a_alone_s, 2.0)) <= set(of.delays.ns(a_alone_s, 2.0))


@pytest.mark.parametrize("study", [name for name, of in STUDIES.items() if of.saw])
def test_the_saw_has_delays_on_both_sides_of_where_waiting_begins_to_win(study: str) -> None:
    of = STUDIES[study]
    assert of.saw is not None
    at = [dt_ns / 8e9 for dt_ns in of.delays.ns(8.0, 2.0)]
    assert sum(0 < one < of.saw.until for one in at) >= 3
    assert any(of.saw.until < one < 1 for one in at)
    assert {"fcfs", "interrupt"} <= set(of.policies)


def test_all_studies_together_take_ten_hours_at_most_and_the_documentation_says_their_limits() -> None:
    minutes = {name: of.minutes for name, of in STUDIES.items()}
    minutes |= {"many": many_studies.MINUTES, "cache": CACHE_MINUTES}
    assert max(minutes.values()) <= 90
    assert sum(minutes.values()) <= 600
    text = DOCS.read_text()
    documented = {name: int(of) for name, of in re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", text, re.MULTILINE)}
    assert documented == minutes
    assert f"{sum(minutes.values())} minutes" in text
    assert f"- the larger application is in I/O for {LEAST_LARGER_S:g} to {MOST_LARGER_S:g} s alone;" in text


def test_applications_of_underload_exceed_what_delay_tolerates_and_do_not_fill_the_storage_alone() -> None:
    a, b = STUDIES["underload"].applications(STUDIES["underload"].pairs[""])
    assert a.demand == b.demand < 1
    assert a.demand + b.demand > 1.25


def test_bandwidth_that_the_coordinator_is_told_is_of_hosts_that_have_files() -> None:
    for study, of in STUDIES.items():
        for pair in of.pairs.values():
            hosts = {host for one in of.applications(pair) for _, host in one.placed}
            assert study == "applications" or len(hosts) == of.plan.storage, study
