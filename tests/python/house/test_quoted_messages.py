"""What docs/when-things-go-wrong.md quotes is what the programs say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/when-things-go-wrong.md"


def quotes() -> list[str]:
    """What stands in italics in the first column of the tables."""
    rows = [line.split("|")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [quote for row in rows for quote in re.findall(r"(?<![*\w])\*([^*]+)\*(?!\*)", row)]


def everything_said() -> str:
    """All sources, with literals that the language joins put together."""
    folders = ("src", "include", "cmake", "scripts", "python/halcyon")
    files = [f for folder in folders for f in sorted((ROOT / folder).rglob("*")) if f.is_file()]
    texts = []
    for file in files:
        if file.suffix in {".so", ".pyc"}:
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        text = re.sub(r"\\\n\s*", "", text)  # CMake, shell
        texts.append(re.sub(r'"\s*f?"', "", text))  # C++, Python
    return "\n".join(texts)


SAID = everything_said()


@pytest.mark.parametrize("quote", quotes())
def test_a_quoted_message_exists(quote: str) -> None:
    pieces = [piece.strip(" ':`") for piece in re.split("…", quote)]
    for piece in filter(None, pieces):
        assert piece in SAID, f"{PAGE.name} quotes {quote!r}, but nothing says {piece!r}"


def test_the_page_quotes_messages() -> None:
    assert len(quotes()) > 10
