"""Any CLIP on the suites, outside of any paper: evaluate it, compare it, look at its items.

The reproduction does not import it.
"""
