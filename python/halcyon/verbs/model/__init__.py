"""`halcyon model QUESTION`: one module per question."""

import argparse

from halcyon.verbs.parts import add_parts, run_part

SUMMARY = "answer questions before a run: storage targets, interference, files, dedicated cores"
DESCRIPTION = "Computes closed-form models of the I/O of a machine. Nothing is run or measured, except by `probe`."

_QUESTIONS = ("stripes", "probe", "interference", "delta", "files", "dedicate")

run = run_part


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_parts(parser, __name__, _QUESTIONS, "QUESTION")
