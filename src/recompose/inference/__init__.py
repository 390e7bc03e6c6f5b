"""Statistics of differences over replicates and over items: estimates, tests, and their correction."""
