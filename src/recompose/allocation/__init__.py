"""The choice of replicates: which comparisons get more of them, from what was seen at the looks before."""
