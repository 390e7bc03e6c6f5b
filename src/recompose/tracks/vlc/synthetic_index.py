"""An index for a few steps of training: drawn images and captions, whatever corpus it stands for."""

from pathlib import Path

from recompose.plan import Recipe
from recompose.tracks.vlc.data.acquire import write_index
from recompose.tracks.vlc.data.shapes_captions import draw


def write_rehearsal(folder: Path, raw: Path, images: int) -> None:
    """Write an index into a folder.

    Args:
        folder: where to.
        raw: a new folder for what is drawn.
        images: how many, each with one caption.
    """
    draw(raw, seed=0, corpus="shapes-coco", images=images)
    drawn = Recipe("data", "a rehearsal's", {"adapter": "shapes-captions"})
    write_index(drawn, raw, folder)
