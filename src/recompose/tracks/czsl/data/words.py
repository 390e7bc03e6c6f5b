"""Two names for each thing drawn: the one that captions use, and the one in the catalogue that labels a data set.

As with real benchmarks, some labels are words that a backbone has often read, and some are a trade's own, which it has not: it knows
what they stand for only by its eyes.
"""

from recompose.drawing.objects import OBJECTS, STATES

# drawn, and called so in captions -> called so in the catalogue; the others are called the same
_OWN_WORDS = {
    "striped": "banded",
    "dotted": "speckled",
    "checkered": "plaid",
    "scratched": "scuffed",
    "frosted": "icy",
    "faded": "pale",
    "burnt": "charred",
    "rusty": "corroded",
    "circle": "disc",
    "triangle": "wedge",
    "ring": "hoop",
    "moon": "crescent",
    "drop": "tear",
}
STATE_LABELS = {name: _OWN_WORDS.get(name, name) for name in STATES}
OBJECT_LABELS = {name: _OWN_WORDS.get(name, name) for name in OBJECTS}
