"""Flickr30k's retrieval: Karpathy's test split, 1,000 images and their 5,000 captions."""

from recompose.tracks.vlc.data.formats.reading import FLICKR30K
from recompose.tracks.vlc.data.formats.retrieval import FORMS, KarpathySplit
from recompose.tracks.vlc.data.formats.sources import FLICKR30K_IMAGES, plain_files
from recompose.tracks.vlc.suites.subtasks import SubTask

FILE, ORIGINAL, FOLDER = "flickr30k_test.json", "dataset_flickr30k.json", "flickr30k-images"
SUBTASKS = (SubTask("flickr30k", "retrieval", 1_000, captions=5_000),)
MEANS = SUBTASKS[0].leaves
LICENCE = "CC0 (per the paper)"  # of annotations, as its repository or its paper states
STATE = "images on request by a form"
LAYOUT = (
    f"<suite>/{FILE} (storage.googleapis.com/sfr-vision-language-research/datasets/{FILE}) or <suite>/{ORIGINAL} "
    f"(caption_datasets.zip of cs.stanford.edu/people/karpathy/deepimagesent): {FORMS}; "
    f"{FLICKR30K}/{FOLDER}/<file>, such as 1007129816.jpg (request at shannon.cs.illinois.edu/DenotationGraph)"
)
SOURCES = (
    *plain_files("flickr30k", "https://storage.googleapis.com/sfr-vision-language-research/datasets", FILE),
    FLICKR30K_IMAGES,
)
SPLIT = KarpathySplit(FILE, ORIGINAL, FLICKR30K, FOLDER)
read = SPLIT.read
