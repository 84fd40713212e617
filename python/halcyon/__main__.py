"""`python -m halcyon` is the `halcyon` command."""

import sys

from halcyon.cli import main

sys.exit(main())
