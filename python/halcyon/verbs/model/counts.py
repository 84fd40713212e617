"""Whole numbers as arguments of `halcyon model`."""

import argparse


def count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= 1 << 40:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1 to 2^40")
    return int(text)


def counts(text: str) -> list[int]:
    """Separated by commas."""
    return [count(word) for word in text.split(",")]
