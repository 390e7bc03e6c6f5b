"""Two names for each thing drawn: the one that captions use, and the one in the catalogue that labels a data set.

As with real benchmarks, whose labels are seldom the words of the web: a backbone has read the catalogue's names, but rarely.
"""

# drawn, and called so in captions -> called so in the catalogue
STATE_LABELS = {
    "red": "scarlet",
    "blue": "azure",
    "green": "emerald",
    "golden": "amber",
    "striped": "banded",
    "dotted": "speckled",
    "checkered": "plaid",
    "scratched": "scuffed",
    "glossy": "polished",
    "glowing": "luminous",
    "frosted": "icy",
    "faded": "pale",
    "cracked": "broken",
    "burnt": "charred",
    "rusty": "corroded",
    "hollow": "empty",
}
OBJECT_LABELS = {
    "circle": "disc",
    "square": "block",
    "triangle": "wedge",
    "star": "starfish",
    "heart": "locket",
    "cross": "plus",
    "ring": "hoop",
    "moon": "crescent",
    "arrow": "pointer",
    "drop": "tear",
    "house": "cottage",
    "fish": "trout",
}
LABELS = STATE_LABELS | OBJECT_LABELS
