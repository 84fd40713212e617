"""Findings scored against runs whose truth is known: programs that each have exactly one fault, or none."""
