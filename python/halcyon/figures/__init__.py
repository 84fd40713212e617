"""What pictures of all rooms have in common: colours, axes with units, panels."""
