"""Measured Δ-graphs: what two commands cost each other where one starts its I/O some time after the other (Dorier 2014,
sections 6.1.2 and 6.3), under each policy of a coordinator."""
