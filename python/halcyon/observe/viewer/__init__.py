"""Hands a data set to the web application of web/: one HTML file that opens from disk, without a network."""

from halcyon.observe.viewer.document import Document
from halcyon.observe.viewer.experiment import experiment_of, render_experiment
from halcyon.observe.viewer.page import render, write_page
from halcyon.observe.viewer.tables import document_of

__all__ = ["Document", "document_of", "experiment_of", "render", "render_experiment", "write_page"]
