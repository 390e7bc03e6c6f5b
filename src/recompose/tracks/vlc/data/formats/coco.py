"""COCO's retrieval: Karpathy's test split, 5,000 images of COCO's validation set of 2014 and their 25,010 captions."""

from recompose.tracks.vlc.data.formats.reading import COCO
from recompose.tracks.vlc.data.formats.retrieval import FORM, KarpathySplit
from recompose.tracks.vlc.data.formats.sources import VAL2014, plain_files
from recompose.tracks.vlc.suites.subtasks import SubTask

FILE = "coco_karpathy_test.json"
SUBTASKS = (SubTask("coco", "retrieval", 5_000, captions=25_010),)
MEANS = SUBTASKS[0].leaves
LICENCE = "BSD-3-Clause (per the paper)"  # of annotations, as its repository or its paper states
STATE = "published"
LAYOUT = (
    f"<suite>/{FILE} (storage.googleapis.com/sfr-vision-language-research/datasets/{FILE}): {FORM}; "
    f"{COCO}/val2014/<file>, such as COCO_val2014_000000391895.jpg (cocodataset.org)"
)
SOURCES = (*plain_files("coco", "https://storage.googleapis.com/sfr-vision-language-research/datasets", FILE), VAL2014)
SPLIT = KarpathySplit(FILE, COCO)
read = SPLIT.read
