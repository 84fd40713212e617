"""Applications that take turns at a file system: what operators of a coordinator need."""
