"""Data sets and weights that stand in for the published ones: as many, as large and packed as these are, of pictures
that are drawn and weights that are random.

What they hold is real where it costs nothing to be: lists of pairs, attributes and splits come from a folder of
annotation files that ``RECOMPOSE_REAL_DATA`` names. So the profile ``paper`` can be carried out from archives to
reports on a machine that has none of the data, and what it takes there can be measured. Its numbers mean nothing.
"""
