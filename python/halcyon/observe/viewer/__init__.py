"""Hands a data set to the web application of web/: one HTML file that opens from disk, without a network."""

from halcyon.observe.viewer.document import Document
from halcyon.observe.viewer.page import render, render_document

__all__ = ["Document", "render", "render_document"]
