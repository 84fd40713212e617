"""The report as a page: self-contained, the same every time, and drawn whatever the runs hold."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from synthetic_runs import PHASES, Shape, write_counts, write_csv, write_manifest, write_run

from halcyon.offload.comparison import open_comparison
from halcyon.offload.report import render, write_report
from halcyon.offload.report.figures import FIGURES, Absent, Picture

TwoRanks = Callable[..., Path]
NO_CONTENT = {"meta", "br", "path", "use", "rect", "image"}


class Page(HTMLParser):
    """Collects what the tests ask: ids, references, text, and whether every element was closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in NO_CONTENT:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href"):
                self.references.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in NO_CONTENT:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in NO_CONTENT:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(*runs: Path) -> Page:
    return Page(render(open_comparison(runs)))


def picture(name: str, *runs: Path) -> Picture:
    """One of the figures."""
    shown = FIGURES[name](open_comparison(runs))
    assert isinstance(shown, Picture)
    return shown


def drawn(*runs: Path) -> set[str]:
    """The names of the figures that these runs give."""
    comparison = open_comparison(runs)
    return {name for name, draw in FIGURES.items() if not isinstance(draw(comparison), Absent)}


def test_page_is_well_formed_with_unique_ids_and_no_outside_reference(hand_run: Path) -> None:
    text = render(open_comparison([hand_run]))
    page = Page(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert [reference for reference in page.references if not reference.startswith("#")] == []
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(page.ids)
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_same_runs_give_the_same_bytes(hand_run: Path) -> None:
    first, second = hand_run.parent / "a.html", hand_run.parent / "b.html"
    sizes = [write_report(open_comparison([hand_run]), output) for output in (first, second)]
    assert first.read_bytes() == second.read_bytes()
    assert sizes == [first.stat().st_size] * 2


def test_page_opens_with_departures(hand_run: Path) -> None:
    write_counts(hand_run, lost_signals=3)
    text = page_of(hand_run).text
    assert 0 < text.index("3 signals lost") < text.index("visible time, a phase")


def test_numbers_of_the_summary_stand_in_the_page(hand_run: Path) -> None:
    text = page_of(hand_run).text
    assert "300 ms (200–400)" in text
    assert "nothing dropped, spilled, skipped or switched" in text


def test_names_from_files_are_escaped(phases_of_two_ranks: TwoRanks) -> None:
    run = phases_of_two_ranks("odd", [(1, 2)], simulation="<script>alert(1)</script>", parameters={"a&b": "<i>"})
    other = phases_of_two_ranks("other", [(1, 2)], simulation="x", parameters={"a&b": "$x_1$"})
    text = render(open_comparison([run, other]))
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "<i>" not in text
    assert "a&amp;b=$x_1$" in text  # nor read as a formula


def test_colours_come_from_the_page(hand_run: Path) -> None:
    text = render(open_comparison([hand_run]))
    assert "var(--ink)" in text
    assert "#010a0" not in text
    assert "#010b0" not in text
    assert "#010c0" not in text
    used = set(re.findall(r"var\(--([a-z0-9-]+)\)", text))
    declared = set(re.findall(r"^\s*--([a-z0-9-]+):", text, re.MULTILINE))
    assert used <= declared


def test_one_run_with_a_server_draws_all_but_scalability(hand_run: Path) -> None:
    assert drawn(hand_run) == FIGURES.keys() - {"scalability"}


def test_run_without_phases_says_why_nothing_is_drawn(tmp_path: Path) -> None:
    write_manifest(tmp_path, approach="none", writers=[])
    page = page_of(tmp_path)
    assert drawn(tmp_path) == set()
    assert "no output phase was recorded" in page.text
    assert "approach none keeps no counts" in page.text


def test_phases_of_zero_seconds_are_drawn(phases_of_two_ranks: TwoRanks) -> None:
    run = phases_of_two_ranks("zero", [(0, 0), (0, 0)], run_s=0.0)
    assert drawn(run) == {"write times", "distribution", "phase time", "iteration time"}
    assert page_of(run).open == []


def test_one_rank_and_one_phase_are_drawn(tmp_path: Path) -> None:
    write_manifest(tmp_path, ranks=1, approach="collective")
    write_csv(tmp_path, "phases-n0000.csv", PHASES, [[0, 0, 10, 5_000_000, 0, 10**9, 100]])
    assert "A phase blocks the simulation for 5.00 ms at worst" in page_of(tmp_path).text


def test_run_cut_off_within_its_first_phase_is_drawn(hand_run: Path) -> None:
    file = hand_run / "phases-n0000.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:2]) + "0,1,17")
    (hand_run / "server-n0000.csv").write_text("")
    (hand_run / "counts-n0000.json").unlink()
    text = page_of(hand_run).text
    assert "server n0000 has not finished" in text
    assert "iteration 0 was recorded by 1 of 2 ranks" in text


@pytest.mark.parametrize("ranks", [1, 2, 24, 25, 672, 2000])
def test_any_number_of_ranks_is_drawn(tmp_path: Path, ranks: int) -> None:
    run = write_run(tmp_path / "run", Shape("file-per-process", ranks, phases=2))
    assert Page(picture("write times", run).svg).text.count("iteration") == 2
    assert "100%" in Page(picture("distribution", run).svg).text


def test_many_phases_show_the_fastest_and_the_slowest(phases_of_two_ranks: TwoRanks) -> None:
    pairs = [(100, 100)] * 70
    pairs[17], pairs[40] = (100, 999), (1, 1)
    shown = picture("write times", phases_of_two_ranks("long", pairs))
    text = Page(shown.svg).text
    assert "iteration 17 · 999 ms" in text
    assert "iteration 40 · 1.00 ms" in text
    assert text.count("iteration") == 24
    assert "Shown: 24 of 70 phases, the fastest and the slowest among them." in shown.caption


def test_two_dimensions_make_a_grid_of_runs(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / f"{approach}-{nx}", Shape(approach, 8, phases=3, parameters={"nx": nx}))
        for approach in ("halcyon", "collective", "file-per-process")
        for nx in (64, 96, 128)
        if (approach, nx) != ("collective", 128)
    ]
    shown = picture("write times", *runs)
    text = Page(shown.svg).text
    assert "Each cell is a run" in shown.caption
    assert [text.count(f"nx {nx}") for nx in (64, 96, 128)] == [1, 1, 1]
    assert text.count("no run") == 1


def test_marks_stand_where_figures_name_runs_by_values_or_approach(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / f"{approach}-{ranks}", Shape(approach, ranks, phases=2))
        for approach in ("halcyon", "collective")
        for ranks in (2, 4)
    ]
    write_counts(runs[1], skipped_blocks=1)
    grid, scaling = picture("write times", *runs), picture("scalability", *runs)
    assert "Each cell is a run" in grid.caption
    assert [Page(shown.svg).text.count("[with losses]") for shown in (grid, scaling)] == [1, 1]
    assert "halcyon [with losses]" in scaling.title


def test_twelve_runs_are_compared(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / f"{i}", Shape("file-per-process", 4, phases=3, seed=i, parameters={"stripe": 2**i}))
        for i in range(12)
    ]
    page = page_of(*runs)
    assert page.open == []
    assert all(f"stripe={2**i}" in page.text for i in range(12))


def test_scalability_names_its_reference(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / f"{approach}{ranks}", Shape(approach, ranks, phases=3))
        for approach in ("halcyon", "file-per-process")
        for ranks in (4, 16)
    ]
    bare = write_run(tmp_path / "bare", Shape("none", 4, phases=3))
    assert "the run time of none ranks=4, without output" in picture("scalability", *runs, bare).caption
    without = picture("scalability", *runs)
    assert "no run without output was given" in without.caption
    assert without.title.startswith("halcyon reaches")


def test_failed_write_leaves_no_file(hand_run: Path) -> None:
    output = hand_run.parent / "taken"
    output.mkdir()
    with pytest.raises(OSError, match="taken"):
        write_report(open_comparison([hand_run]), output)
    assert sorted(path.name for path in hand_run.parent.iterdir()) == ["hand", "taken"]
