"""``data.dvc``: the generated raw data of a profile, which DVC keeps; a folder each, so that others beside them do not
matter. Published data sets are left out: they are large, and their licences are their authors'.
"""

from collections.abc import Iterable
from pathlib import Path

import yaml

from recompose.files import write_text
from recompose.params.documents import read_document
from recompose.recipes.plan import Recipe

TRACKED = "data.dvc"


def track(root: Path, recipes: Iterable[Recipe]) -> None:
    """Name the folders of generated data in ``data.dvc``, those that are there; ``dvc commit`` adds their digests.

    Args:
        root: the project's folder.
        recipes: of the data of a profile.
    """
    paths = sorted({f"data/{recipe.name}-{recipe.folder}" for recipe in recipes})
    paths = [path for path in paths if (root / path).is_dir()]
    if paths and paths != tracked(root):
        write_text(root / TRACKED, yaml.safe_dump({"outs": [{"path": path} for path in paths]}))


def tracked(root: Path) -> list[str]:
    """Return the folders that ``data.dvc`` names, below the project's folder; none where it has another form."""
    try:
        return [out["path"] for out in read_document((root / TRACKED).read_text(encoding="utf-8"), TRACKED)["outs"]]
    except (FileNotFoundError, LookupError, TypeError):
        return []
