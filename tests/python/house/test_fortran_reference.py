"""The reference page of the Fortran module says what the module does, and notices what lacks a comment."""

import re
from pathlib import Path

import pytest

import fortran_pages

ROOT = Path(__file__).resolve().parents[3]
MODULE = ROOT / "fortran/halcyon.F90"
TURNS = ROOT / "fortran/halcyon_turns.f90"


@pytest.mark.parametrize(("module", "one"), [(MODULE, "halcyon_write"), (TURNS, "halcyon_io_wait")])
def test_every_public_name_has_its_declaration_and_comment(module: Path, one: str) -> None:
    page = fortran_pages.page(module)
    source = re.sub(r"&\s*\n\s*", "", module.read_text(encoding="utf-8"))
    public = re.findall(r"halcyon_\w+", " ".join(re.findall(r"public :: (.*)", source)))
    assert one in public
    for name in public:
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        code, text = section.split("```fortran\n")[1].split("\n```")
        assert re.match(rf"(subroutine|function) {name}\(|type.* :: {name}\n", code), name
        assert text.strip(), name


def test_the_page_has_constants_and_what_the_preprocessor_makes() -> None:
    page = fortran_pages.page(MODULE)
    assert "- `real(c_double), pointer, intent(inout) :: array(..)`" in page
    assert "integer, parameter :: HALCYON_DURABLE = 2" in page


def test_a_public_name_without_comment_is_noticed(tmp_path: Path) -> None:
    text = MODULE.read_text(encoding="utf-8")
    bare = re.sub(r"(?:    !> [^\n]*\n)+(    subroutine halcyon_signal)", r"\1", text)
    assert bare != text
    (tmp_path / "halcyon.F90").write_text(bare, encoding="utf-8")
    (tmp_path / "alloc.inc").write_text((ROOT / "fortran/alloc.inc").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(LookupError, match="halcyon_signal is public and has no comment"):
        fortran_pages.page(tmp_path / "halcyon.F90")
