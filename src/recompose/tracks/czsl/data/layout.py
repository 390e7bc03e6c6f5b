"""How the benchmarks of state-object pairs name their files."""

SPLIT_NAME = "compositional-split-natural"
METADATA = f"metadata_{SPLIT_NAME}.t7"
