"""docs/dataset.md is what the schema says."""

from pathlib import Path

from halcyon.observe.schema import TABLES
from halcyon.observe.schema_page import page

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_in_docs_is_up_to_date() -> None:
    committed = (ROOT / "docs/dataset.md").read_text(encoding="utf-8")
    assert committed == page(), "run: python -m halcyon.observe.schema_page > docs/dataset.md"


def test_every_column_is_described() -> None:
    for name, schema in TABLES.items():
        for field in schema:
            assert f"| `{field.name}` | " in page().split(f"\n## {name}\n")[1].split("\n## ")[0]
            assert field.metadata[b"meaning"]
