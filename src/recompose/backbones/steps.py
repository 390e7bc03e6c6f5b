"""The making of backbones: pretrained here, released with the project, or published."""

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from recompose.data.content import unchanged_raw
from recompose.data.upstream import verified_download
from recompose.digest import sha256_file
from recompose.errors import DataError, DownloadError
from recompose.files import write_json
from recompose.recipes.plan import Recipe
from recompose.training.hardware import Hardware

BACKBONE = "backbone.json"  # its architecture and weights
RAW, ASSETS = "raw", "assets"  # the roles of the folders of raw files, and of files that are released with the project


def make_pretrained(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Pretrain a small CLIP."""
    import torch

    from recompose.training.pretraining import WEIGHTS, pretrain

    document = recipe.document
    torch.set_num_threads(document["trainer"]["threads"])
    pretrain(
        _architecture(recipe),
        document["activation"],
        unchanged_raw(recipe.needs["corpus"], needs["corpus"], needs[RAW]),
        folder,
        Hardware.of(recipe.trainer),
        **{name: document[name] for name in ("seed", "epochs", "batch_size", "lr", "weight_decay")},
    )
    _describe_clip(recipe, folder, WEIGHTS)


def copy_asset(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Copy released weights.

    Raises:
        DataError: the file is missing or has another digest.
    """
    ((file, sha256),) = recipe.document["weights"].items()
    path = needs[ASSETS] / file
    if fault := asset_fault(path, sha256):
        message = f"{path} {fault}: `git checkout -- assets` restores it; for a new file, edit params.yaml"
        raise DataError(message, code="wrong-digest", place=path)
    shutil.copyfile(path, folder / file)
    _describe_clip(recipe, folder, file)


def asset_fault(path: Path, sha256: str) -> str:
    """Return what is wrong with a file that is released with the project; empty if it is right."""
    if not path.is_file():
        return "is missing"
    return "" if sha256_file(path) == sha256 else f"does not match its sha256 in params.yaml, {sha256}"


def fetch_clip(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Link the published weights of a CLIP, which are downloaded if possible."""
    from recompose.backbones.published import weights_urls

    ((file, _),) = recipe.document["weights"].items()
    sources = recipe.sources
    urls = weights_urls(sources["architecture"], file, sources["urls"], sources["tag"])
    _describe_clip(recipe, folder, _link(recipe, urls, needs[RAW], folder))


def fetch_classifier(recipe: Recipe, needs: Mapping[str, Path], folder: Path) -> None:
    """Link the published weights of a network of torchvision, whose file is named by the first digits of its digest.

    Raises:
        DownloadError: the file has another digest.
    """
    file = _link(recipe, recipe.sources["urls"], needs[RAW], folder, check=_check_name)
    description = {"library": "torchvision", "architecture": recipe.document["architecture"], "weights": file}
    write_json(folder / BACKBONE, description)


def _link(
    recipe: Recipe, urls: Iterable[str], raw: Path, folder: Path, check: Callable[[Path], None] = lambda _: None
) -> str:
    """Link published weights that pass a check; return the file's name."""
    ((file, sha256),) = recipe.document["weights"].items()
    with verified_download(raw, f"weights/{file}", [*urls], sha256) as path:
        check(path)
    (folder / file).unlink(missing_ok=True)  # from a killed attempt
    (folder / file).symlink_to(os.path.relpath(path, folder))
    return str(file)


def _check_name(path: Path) -> None:
    """Check a file against the digits of its digest in its name.

    Raises:
        DownloadError: the digits differ.
    """
    expected, sha256 = path.stem.rpartition("-")[2], sha256_file(path)
    if not sha256.startswith(expected):
        message = (
            f"{path} has {path.stat().st_size:,} bytes with the sha256 {sha256}, which should begin with {expected}: "
            "delete the file to download it again"
        )
        raise DownloadError(message, code="wrong-digest", place=path)


def _architecture(recipe: Recipe) -> str:
    architecture = recipe.document["architecture"]
    return str(architecture if isinstance(architecture, str) else architecture["name"])


def _describe_clip(recipe: Recipe, folder: Path, weights: str) -> None:
    """Write the description from which a CLIP's network is built."""
    described = {"architecture": _architecture(recipe), "activation": recipe.document["activation"]}
    write_json(folder / BACKBONE, {**described, "weights": weights})
