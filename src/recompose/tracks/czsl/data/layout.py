"""The file names of the benchmarks of state-object pairs."""

SPLIT_NAME = "compositional-split-natural"
METADATA = f"metadata_{SPLIT_NAME}.t7"
