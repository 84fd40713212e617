"""How `halcyon run` puts layers under a command: what it preloads, how they are set, what they said."""
