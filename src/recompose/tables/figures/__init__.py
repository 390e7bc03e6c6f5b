"""Figures, a module for each kind of plot: forest plots, sweeps, trade-offs, maps of embeddings."""
