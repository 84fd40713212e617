"""One module per verb of the `halcyon` command: it parses, calls a library function, and prints."""

VERBS = (
    "run",
    "analyze",
    "advise",
    "predict",
    "grammar",
    "model",
    "testbed",
    "delta",
    "coordinator",
    "slurm",
    "log",
    "mount",
    "summary",
    "report",
    "diff",
    "view",
    "pack",
    "export",
    "convert",
    "check",
)
