"""Output of commands that no room owns: tables for a terminal, paths in them, and JSON."""
