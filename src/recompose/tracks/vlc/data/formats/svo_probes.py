"""SVO-Probes: of two images, which shows what a sentence says? They differ in subject, verb or object.

Of google-deepmind/svo_probes at 206219e, which publishes addresses of images, many of them dead by now: an item with
an image that is not there is left out, and how many are is said. The released notebook asks of each image by itself
whether it goes with the sentence; which of the two does is asked as in FSC-CLIP's evaluation.
"""

from pathlib import Path

from recompose.errors import DataError
from recompose.progress import say
from recompose.tracks.vlc.data.formats.reading import Item, read_rows
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite

NAME = "svo_probes"
SETS = ("subj_neg", "verb_neg", "obj_neg")
IMAGES = f"images/{NAME}"
COLUMNS = ("sentence", "pos_image_id", "neg_image_id", *SETS)
LAYOUT = (
    f"{NAME}/svo_probes.csv, from github.com/google-deepmind/svo_probes: columns {', '.join(COLUMNS)} (one of the last "
    f"three True, the others False), and addresses of images, pos_url and neg_url, many of them dead; "
    f"{IMAGES}/<image_id>.jpg, as many as there are: items that lack one are left out"
)
