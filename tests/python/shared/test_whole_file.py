"""Files that appear under their names only when they are whole."""

from pathlib import Path

import pytest

from halcyon.errors import HalcyonSystemError, UnavailableError
from halcyon.whole_file import whole_file


def test_what_was_there_is_replaced_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("old")
    with whole_file(tmp_path / "page") as hidden:
        hidden.write_text("new")
        assert (tmp_path / "page").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["page"]
    assert (tmp_path / "page").read_text() == "new"


def write_half(path: Path, error: Exception) -> None:
    path.write_text("half")
    raise error


@pytest.mark.parametrize("error", [RuntimeError("ours"), UnavailableError("no viewer")])
def test_an_error_leaves_what_was_there_and_stays_what_it_is(tmp_path: Path, error: Exception) -> None:
    (tmp_path / "page").write_text("old")
    with pytest.raises(type(error), match=f"^{error}$"), whole_file(tmp_path / "page") as hidden:
        write_half(hidden, error)
    assert [path.name for path in tmp_path.iterdir()] == ["page"]
    assert (tmp_path / "page").read_text() == "old"


def test_what_the_system_refuses_is_told_of_the_file(tmp_path: Path) -> None:
    page = tmp_path / "nowhere" / "page"
    with pytest.raises(HalcyonSystemError, match=f"^{page}: No such file"), whole_file(page) as hidden:
        hidden.write_text("new")
