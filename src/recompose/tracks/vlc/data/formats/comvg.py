"""ComVG: which of two images of Visual Genome a sentence describes (Jiang et al., 2024).

Read like ``ComVG/clip_baseline.py`` of eric-ai-lab/ComCLIP at 75ef16e: one accuracy over all rows, whether the
subject, the verb or the object differs.
"""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import VISUAL_GENOME, AnnotationItem, check_distinct, read_rows
from recompose.tracks.vlc.data.suite import Collector, Suite

NAME = "comvg"
COLUMNS = ("id", "sentence", "pos_image_id", "neg_image_id")
LAYOUT = (
    f"{NAME}/ComVG.csv, datasets/ComVG.csv of github.com/eric-ai-lab/ComCLIP, with the columns {', '.join(COLUMNS)}; "
    f"{VISUAL_GENOME}/<image id>.jpg, all images in one folder (visualgenome.org)"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: the file is absent or not as published.
    """
    collector = Collector()
    rows = read_rows(root / NAME / "ComVG.csv", LAYOUT, COLUMNS)
    check_distinct(rows, "id")

    def item(row: AnnotationItem) -> tuple[int, list[int], int]:
        images = [collector.image(f"{VISUAL_GENOME}/{row.whole(key)}.jpg") for key in ("pos_image_id", "neg_image_id")]
        return collector.text(row.text("sentence")), images, 0

    return collector.suite(NAME, {NAME: collector.choices("t2i", [item(row) for row in rows])})
