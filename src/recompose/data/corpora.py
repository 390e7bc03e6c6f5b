"""Synthetic corpora of scenes that pretrain small backbones."""

from importlib import import_module
from pathlib import Path

from recompose.data.raw import draw_once
from recompose.recipes.plan import Recipe


def acquire(recipe: Recipe, raw: Path) -> Path:
    """Generate a corpus below the folder of raw files unless it exists; return its folder."""
    root = recipe.raw_folder(raw)
    draw_once(import_module(recipe.made_by["reader"]).write_corpus, recipe, root)
    return root


def index(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Return the files of a corpus, which needs no index."""
    return [path.name for path in root.glob("*.tar")]
