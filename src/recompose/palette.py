"""Every colour that the project shows, in figures and in terminals; the page's are in its own style."""

RIGHT, WRONG = "#0072B2", "#D55E00"  # told apart without seeing green and red
VERDICTS = {"supported here": RIGHT, "reversed here": WRONG, "undecided": "#6b6b6b"}  # of claims
SERIES = "colorblind"  # seaborn's palette for rows
WATERMARK = "firebrick"
STATES = {
    "current": "green",
    "stale": "yellow",
    "uncommitted": "yellow",
    "mixed": "yellow",
    "incomplete": "red",
    "tampered": "red",
    "unchecked": "dim",
}  # of trust, in a terminal
