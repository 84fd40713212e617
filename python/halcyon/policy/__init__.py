"""Who does I/O at a shared file system: the decision of the room policy."""
