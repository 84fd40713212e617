"""The report: one HTML page that needs nothing but a browser."""

from halcyon.offload.report.page import render, write_report

__all__ = ["render", "write_report"]
