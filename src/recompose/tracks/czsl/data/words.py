"""The words that label a drawn data set: those of captions, but for two that no caption has.

A backbone knows what these two stand for only by its eyes; what makes a data set differ from the scenes is above all
its look.
"""

from recompose.synthetic.objects import OBJECTS, STATES

_OWN_WORDS = {"frosted": "icy", "drop": "tear"}  # drawn, and called so in captions -> called so here
STATE_LABELS = {name: _OWN_WORDS.get(name, name) for name in STATES}
OBJECT_LABELS = {name: _OWN_WORDS.get(name, name) for name in OBJECTS}
