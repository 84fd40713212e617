"""What `halcyon analyze` prints: for people, and for machines."""
