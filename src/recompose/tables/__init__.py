"""Tables and figures: their parts, which the tracks' own kinds share, and how they are made and written."""
