"""Stand-ins for the commands that Lustre is asked with; the first line of a file is the list of its targets,
unless `lfs setstripe` made it, which notes them beside it."""

from collections.abc import Sequence
from pathlib import Path

_STAT = """#!/bin/sh
[ "$1 $2" = "--file-system --format=%t" ] && [ -e "$3" ] || exit 1
echo bd00bd0
"""
_LFS = """#!/bin/sh
case "$1" in
osts)
    [ {targets} -gt 0 ] || exit 1
    echo OBDS:
    i=0
    while [ $i -lt {targets} ]; do
        state=ACTIVE
        case " {inactive} " in *" $i "*) state=INACTIVE;; esac
        echo "$i: big-OST000${{i}}_UUID $state"
        i=$((i + 1))
    done ;;
getstripe)
    told="$3"
    [ ! -e "$3.stripes" ] || told="$3.stripes"
    [ "$(head -c 4 "$told")" != none ] || {{ echo "lcm_layout_gen: 2"; exit; }}
    echo "lmm_stripe_size: 1048576"
    echo "lmm_objects:"
    for i in $(head -n 1 "$told"); do echo "      - l_ost_idx: $i"; done ;;
setstripe)
    # lfs setstripe -c 1 [-i INDEX] FILE
    index={first}
    [ "$4" != -i ] || {{ index=$5; shift 2; }}
    [ "$index" -lt {targets} ] || {{ echo "error: bad index $index" >&2; exit 22; }}
    : > "$4"
    echo "$index" > "$4.stripes" ;;
*) exit 2 ;;
esac
"""


def lustre_commands(directory: Path, *, targets: int, inactive: Sequence[int] = (), first: int = 2) -> Path:
    """A directory for PATH. `first`: where a file goes that nobody places."""
    directory.mkdir()
    named = {"targets": targets, "inactive": " ".join(map(str, inactive)), "first": first}
    for name, text in {"stat": _STAT, "lfs": _LFS.format(**named)}.items():
        (directory / name).write_text(text)
        (directory / name).chmod(0o755)
    return directory
