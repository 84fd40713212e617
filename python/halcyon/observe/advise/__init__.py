"""Settings that may make a program's I/O faster: what findings suggest, trials of them, and searches."""
