"""The labels of the synthetic data set: the words of captions, except for two that no caption has.

A backbone recognises these two only by their appearance. The data set differs from the scenes mostly in its look.
"""

from recompose.synthetic.objects import OBJECTS, STATES

_OWN_WORDS = {"frosted": "icy", "drop": "tear"}  # the drawing's word, also in captions -> the label here
STATE_LABELS = {name: _OWN_WORDS.get(name, name) for name in STATES}
OBJECT_LABELS = {name: _OWN_WORDS.get(name, name) for name in OBJECTS}
