"""The colours of figures and terminals; those of the report site are in its style sheet."""

RIGHT, WRONG = "#0072B2", "#D55E00"  # distinguishable with red-green blindness
VERDICTS = {
    "supported here": RIGHT,
    "reversed here": WRONG,
    "negligible here": "#009E73",
    "undecided": "#6b6b6b",
}  # of claims
SERIES = "colorblind"  # seaborn's palette for rows
STATES = {
    "current": "green",
    "outdated": "yellow",
    "missing": "red",
    "changed": "red",
    "unchecked": "dim",
}  # of contents, in a terminal
