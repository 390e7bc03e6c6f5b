"""Flickr30k's retrieval: Karpathy's test split, 1,000 images and their 5,000 captions."""

from recompose.tracks.vlc.data.formats.reading import FLICKR30K
from recompose.tracks.vlc.data.formats.retrieval import FORM, KarpathySplit
from recompose.tracks.vlc.data.formats.sources import FLICKR30K_IMAGES, plain_files
from recompose.tracks.vlc.suites.subtasks import SubTask

FILE = "flickr30k_test.json"
SUBTASKS = (SubTask("flickr30k", "retrieval", 1_000, captions=5_000),)
MEANS = SUBTASKS[0].leaves
LICENCE = "CC0 (per the paper)"  # of annotations, as its repository or its paper states
STATE = "images on request by a form"
LAYOUT = (
    f"<suite>/{FILE} (storage.googleapis.com/sfr-vision-language-research/datasets/{FILE}): {FORM}; "
    f"{FLICKR30K}/flickr30k-images/<file>, such as 1007129816.jpg (request at shannon.cs.illinois.edu/DenotationGraph)"
)
SOURCES = (
    *plain_files("flickr30k", "https://storage.googleapis.com/sfr-vision-language-research/datasets", FILE),
    FLICKR30K_IMAGES,
)
SPLIT = KarpathySplit(FILE, FLICKR30K)
read = SPLIT.read
