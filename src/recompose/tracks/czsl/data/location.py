"""Where the raw files of data sets lie."""

from pathlib import Path

from recompose.params import Downloaded, ShapesPairs
from recompose.plan import Recipe


def data_root(recipe: Recipe, section: ShapesPairs | Downloaded, data: Path) -> Path:
    """The folder of a data set's raw files."""
    return data / (recipe.folder if isinstance(section, ShapesPairs) else recipe.name)
