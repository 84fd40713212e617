"""What users of the instrumented way in see: runs and their reports, stored blocks, configurations, server worlds."""
