"""The search for the best striping, and number and buffer of aggregators (Wright 2014, section 6.1)."""
