"""Verbs of several parts, such as `halcyon testbed up`: one module per part, with what a verb's module has."""

import argparse
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import cast

from rich_argparse import RichHelpFormatter


def add_parts(
    parser: argparse.ArgumentParser,
    package: str,
    names: Sequence[str],
    what: str,
    modules: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """A sub-parser per module of `package`; `what` is what the user calls a part. `modules`: of parts whose module has
    another name, since theirs has a meaning in the package."""
    # `prog`: else argparse formats a usage for it, which loads rich.
    parts = parser.add_subparsers(dest=what.lower(), metavar=what, required=True, prog=parser.prog)
    for name in names:
        module = import_module(f"{package}.{modules.get(name, name)}")
        part = parts.add_parser(
            name,
            help=module.SUMMARY,
            description=module.DESCRIPTION,
            formatter_class=RichHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(part)
        part.set_defaults(run_part=module.run)


def run_part(arguments: argparse.Namespace) -> int:
    """The one that was chosen; its exit code."""
    return cast(int, arguments.run_part(arguments))
