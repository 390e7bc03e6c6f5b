"""Tables and figures: their kinds, their cells and files, the lineage of each, and what is due."""
