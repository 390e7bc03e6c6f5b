"""Data sets and weights that stand in for the published ones: of the same number, size and packing, but with drawn
pictures and random weights.

Lists of pairs, attributes and splits are real: they come from a folder of annotation files that ``RECOMPOSE_REAL_DATA``
names. With them, the profile ``paper`` runs from archives to reports on a machine that has none of the data, and its
time can be measured. Its numbers mean nothing.
"""
