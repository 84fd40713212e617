"""Evidence of findings is numbers."""

import json
from dataclasses import dataclass
from inspect import signature

import pytest
from observe.analysis import scenarios
from observe.analysis.conftest import FindingsOf

from halcyon.observe.findings import Finding
from halcyon.observe.findings.finding import Unit
from halcyon.printed.plain import as_json


@dataclass(frozen=True)
class Tables:
    """What `--json` prints findings in."""

    findings: list[Finding]


def test_evidence_is_numbers_whose_keys_say_the_unit(findings_of: FindingsOf) -> None:
    own = [value for value in vars(scenarios).values() if callable(value) and value.__module__ == scenarios.__name__]
    every = [(run, signature(run).parameters.values()) for run in own]
    runs = [run for run, needed in every if all(one.default is not one.empty for one in needed)]
    assert len(runs) > 10
    seen = 0
    for run in runs:
        for finding in json.loads(as_json(Tables(findings_of(run))))["findings"]:
            keys = [each["key"] for each in finding["evidence"]]
            assert len(set(keys)) == len(keys), finding["key"]
            for each in finding["evidence"]:
                assert isinstance(each["value"], int | float), each
                assert Unit.of(each["key"]).text(each["value"]) == each["text"]
                seen += 1
    assert seen > 40


def test_evidence_without_a_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of these at its end"):
        Unit.of("time")
    assert Unit.of("server_bytes_per_s") == Unit.BYTES_PER_S
    assert Unit.of("spent_s") == Unit.SECONDS
