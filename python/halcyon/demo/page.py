"""The demo's page: the report over its runs, which opens with the verdict and the demo's own tables."""

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from halcyon.demo.table_rows import Rows
from halcyon.demo.verdict import Verdict
from halcyon.offload.comparison import open_comparison
from halcyon.offload.report import write_report
from halcyon.printed.html_pages import templates


def write_page(verdict: Verdict, tables: Sequence[Rows], runs: Sequence[Path], output: Path) -> None:
    """`runs`: directories of the runs of the last round that counts."""
    write_report(open_comparison(list(runs)), output, opening=opening_of(verdict, tables))


def opening_of(verdict: Verdict, tables: Sequence[Rows]) -> Markup:
    """The sections with which the page opens."""
    return Markup(templates("demo").get_template("page.html.j2").render(verdict=verdict, tables=tables))
