"""Closed-form models of storage targets, interference and dedicated cores; their formulas are in src/models."""
