"""Looking at a simulation while it runs, and steering it."""
