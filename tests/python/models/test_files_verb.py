"""Transcripts of `halcyon model files`."""

import json

from model_command import model


def test_files_of_ranks() -> None:
    """A log is two files: data and index."""
    assert model("files", "--ranks", "64,4096") == TOLD


TOLD = """
Files created
a log: data and index
ranks   shared file   file per rank   log per rank
──────────────────────────────────────────────────
   64             1              64            128
4,096             1           4,096          8,192"""


def test_the_same_for_machines() -> None:
    told = json.loads(model("files", "--ranks", "3", "--json"))
    assert told["rows"] == [{"ranks": 3, "shared": 1, "one_per_rank": 3, "logs": 6}]


def test_ranks_are_whole_numbers() -> None:
    for wrong in ("0", "-1", "1.5", "8,", "many"):
        told = model("files", f"--ranks={wrong}")
        assert "is no whole number from 1 to 2^40" in told
        assert told.endswith("[exit 2]")
