"""docs/configuration.md is what the schema says, and every key of the schema is described."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from halcyon.offload.schema_reference import page

ROOT = Path(__file__).resolve().parents[4]
SCHEMA: dict[str, Any] = json.loads((ROOT / "schema/halcyon.schema.json").read_text(encoding="utf-8"))


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from schema.get("properties", {}).items()
    for choice in schema.get("anyOf", ()):
        yield from properties(choice)


def test_the_page_in_docs_is_up_to_date() -> None:
    committed = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    assert committed == page(SCHEMA), (
        "run: python -m halcyon.offload.schema_reference schema/halcyon.schema.json > docs/…"
    )


@pytest.mark.parametrize("name", [None, *SCHEMA["definitions"]])
def test_every_key_is_described(name: str | None) -> None:
    for key, schema in properties(SCHEMA if name is None else SCHEMA["definitions"][name]):
        target = SCHEMA["definitions"].get(str(schema.get("$ref", "")).removeprefix("#/definitions/"), {})
        assert "description" in schema or "description" in target, key


def keys_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def test_the_configuration_of_the_library_tests_has_every_key() -> None:
    known = {key for schema in (SCHEMA, *SCHEMA["definitions"].values()) for key, _ in properties(schema)}
    used = set(keys_of(yaml.safe_load((ROOT / "tests/offload/model/full.yaml").read_text(encoding="utf-8"))))
    assert known - used == set()


def test_every_link_leads_to_a_section() -> None:
    text = page(SCHEMA)
    sections = {line[3:].lower().replace(" ", "-").replace(".", "") for line in text.splitlines() if line[:3] == "## "}
    links = {part.partition(")")[0] for part in text.split("](#")[1:]}
    assert len(links) > 10
    assert links <= sections


def test_defaults_fit_their_own_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for definition in [SCHEMA, *SCHEMA["definitions"].values()]:
        for key, schema in properties(definition):
            if "default" in schema and "`" not in str(schema["default"]):
                whole = {"definitions": SCHEMA["definitions"], "properties": {key: schema}}
                jsonschema.Draft4Validator(whole).validate({key: schema["default"]})


def test_the_example_of_the_page_fits_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    example = page(SCHEMA).partition("```yaml\n")[2].partition("```")[0]
    jsonschema.Draft4Validator(SCHEMA).validate(yaml.safe_load(example))
