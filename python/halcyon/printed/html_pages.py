"""Pages in the look of the report: their templates and their style, without what draws a report's figures."""

import re
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup


def templates(package: str) -> Environment:
    """Those of a package of halcyon: `offload/report` has the report itself."""
    environment = Environment(
        loader=PackageLoader("halcyon", package),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = _unbroken
    return environment


def report_style() -> Markup:
    """The style sheet, for a <style> element."""
    return Markup((files("halcyon") / "offload/report/report.css").read_text("utf-8"))


def _unbroken(value: str) -> str:
    """A line may end between values, but neither between a number and its unit nor inside a range."""
    with_units = re.sub(r"(?<=\d) (?=[^\d\s(])", "\N{NO-BREAK SPACE}", value)
    return with_units.replace("\N{EN DASH}", "\N{WORD JOINER}\N{EN DASH}\N{WORD JOINER}")
