"""What verbs with --coordinate have in common."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from halcyon.layers.coordination import Coordination


def add_coordination(parser: argparse.ArgumentParser) -> None:
    """Options that say how turns are given."""
    parser.add_argument(
        "--coordinator",
        metavar="PATH=ADDRESS",
        action="append",
        default=[],
        help="--coordinate: who gives turns for files below PATH; may be repeated (default: as coordinators.yaml says)",
    )
    parser.add_argument(
        "--coordinators",
        metavar="FILE",
        type=Path,
        help="--coordinate: coordinators.yaml (default: $HALCYON_COORDINATORS_FILE, else "
        "/etc/halcyon/coordinators.yaml)",
    )
    parser.add_argument(
        "--account",
        metavar="NAME",
        help="--coordinate: who pays; coordinators.yaml may give accounts different weights (default: "
        "$HALCYON_ACCOUNT, else $SLURM_JOB_ACCOUNT)",
    )


def coordination_of(arguments: argparse.Namespace, *, takes_turns: bool | None = None) -> "Coordination | None":
    """None: no turns are taken. `takes_turns`: by default, as --coordinate says. UsageError: the options make no
    sense."""
    from halcyon.errors import UsageError
    from halcyon.layers.coordination import Coordination

    coordination = Coordination(tuple(arguments.coordinator), arguments.coordinators, account=arguments.account)
    takes = arguments.coordinate if takes_turns is None else takes_turns
    if coordination != Coordination() and not takes:
        raise UsageError("--coordinator, --coordinators and --account say how turns are given: add --coordinate")
    if arguments.coordinator and arguments.coordinators:
        raise UsageError("--coordinator and --coordinators say the same in two ways; give one of them")
    return coordination if takes else None
