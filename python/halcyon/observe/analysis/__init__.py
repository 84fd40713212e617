"""Tables that answer questions about a run's I/O; docs/analysis.md says what each of them tells."""
