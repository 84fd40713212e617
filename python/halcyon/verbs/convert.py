"""`halcyon convert damaris.xml`"""

import argparse
import sys
from pathlib import Path

SUMMARY = "turn a Damaris XML file into halcyon.yaml"
DESCRIPTION = (
    "Prints the halcyon.yaml that says what a Damaris XML file says. "
    "What has no counterpart is listed in comments at its top. Exit code 1: that is a store, a mesh or a type, so that "
    "data would be lost; or the file is wrong."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("xml", metavar="damaris.xml", type=Path, help="the Damaris configuration")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.errors import ConfigError, HalcyonSystemError
    from halcyon.offload.damaris_xml import convert
    from halcyon.whole_text import read_whole_text

    path: Path = arguments.xml
    try:
        text = read_whole_text(path).decode("utf-8")
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    except UnicodeDecodeError as why:
        raise ConfigError(f"{path}:1: not UTF-8: {why.reason} at byte {why.start}") from why
    converted = convert(text, str(path))
    sys.stdout.write(converted.yaml)
    sys.stdout.flush()
    for loss in converted.losses:
        print(f"halcyon: not converted: {loss}", file=sys.stderr)
    return 1 if converted.losses else 0
