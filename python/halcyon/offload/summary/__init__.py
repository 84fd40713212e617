"""What `halcyon summary` prints: for people, and for machines."""
