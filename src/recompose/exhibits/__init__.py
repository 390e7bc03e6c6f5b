"""Exhibits, that is tables and figures: their parts, for the report and for each track's own kinds."""
