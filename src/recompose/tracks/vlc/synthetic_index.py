"""A small synthetic index for a few steps of training, in place of any corpus."""

from pathlib import Path

from recompose.plan import Recipe
from recompose.tracks.vlc.data.acquire import write_index
from recompose.tracks.vlc.data.shapes_captions import draw


def write_synthetic_index(folder: Path, raw: Path, images: int) -> None:
    """Write a synthetic index into a folder.

    Args:
        folder: the folder of the index.
        raw: a new folder for the raw files.
        images: the number of images, each with one caption.
    """
    draw(raw, seed=0, corpus="shapes-coco", images=images)
    recipe = Recipe("data", "synthetic", {"adapter": "shapes-captions"})
    write_index(recipe, raw, folder)
