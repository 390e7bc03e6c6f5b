"""CLIP-Binding: which of five pairs of colours and shapes an image of two objects shows (Lewis et al., 2024).

The generalization split of the data set of two objects, the one that CLIP-CAE reports (appendix L), read like
``ObjectDataset`` of marthaflinderslewis/clip-binding at bb6f55e: the true caption is first. A row is a true caption of
an image, so an image has several rows.
"""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import AnnotationItem, read_rows
from recompose.tracks.vlc.data.suite import Collector, Suite

NAME = "clip_binding"
IMAGES = f"images/{NAME}/two_object/images/gen"
CAPTIONS = ("pos", "neg_0", "neg_1", "neg_2", "neg_3")
LAYOUT = (
    f"{NAME}/two_object/gen.csv, from the archive that github.com/marthaflinderslewis/clip-binding links to (Google "
    f"Drive), with the columns file_name, {', '.join(CAPTIONS)}; {IMAGES}/<file_name> (two_object/images/gen there)"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: the file is absent or not as published.
    """
    collector = Collector()

    def item(row: AnnotationItem) -> tuple[int, list[int], int]:
        captions = [collector.text(row.text(key)) for key in CAPTIONS]
        return collector.image(row.path("file_name", IMAGES)), captions, 0

    rows = read_rows(root / NAME / "two_object" / "gen.csv", LAYOUT, ("file_name", *CAPTIONS))
    return collector.suite(NAME, {NAME: collector.choices("i2t", [item(row) for row in rows])})
