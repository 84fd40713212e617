#!/usr/bin/env python3
"""over_nn.py on mounts that keep for a second what they have read, as GlusterFS does unless it is told not to: there
the index of a log is mapped, and is sent to the servers at a sync.

`over_nn_caching`, `…_writes`, `…_views`: as `over_nn` and its like.
"""

import sys
from dataclasses import replace
from functools import partial

from over_nn import measure
from volume_takes import PLAN, run_on_volume

FIGURE = "over_nn_caching"

if __name__ == "__main__":
    figures = (FIGURE, f"{FIGURE}_writes", f"{FIGURE}_views")
    sys.exit(run_on_volume(figures, partial(measure, figure=FIGURE), replace(PLAN, caching_mounts=True)))
