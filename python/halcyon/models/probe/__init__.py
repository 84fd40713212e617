"""Measures how writers share one storage target (Wright 2014, figure 6.3)."""
