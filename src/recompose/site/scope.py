"""The first words of the page: on what its numbers were made, with pictures, sizes and time."""

import base64
import io
from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest

from PIL import Image

from recompose.claims.outcome import span
from recompose.console import pluralize
from recompose.files import Document
from recompose.recipes.plan import Recipe
from recompose.recipes.records import flat
from recompose.tables.published import Published
from recompose.tracks import TRACKS

PICTURES = 3
MINUTE = 60


def scope_of(published: Published) -> Document | None:
    """Return the data, models and time behind all numbers of published reports, or None if nothing was run.

    Data sets, drawn or published, are phrases; samples are pictures of drawn ones.
    """
    data = _by_name(record for record in published.recipes.values() if record.kind == "data")
    if not any(record.kind == "evaluations" for record in published.recipes.values()):
        return None
    drawn = {name: recipes for name, recipes in data.items() if TRACKS[recipes[0].track].is_synthetic(recipes[0])}
    return {
        "synthetic": [_phrase(name, recipes) for name, recipes in drawn.items()],
        "published": [_phrase(name, recipes) for name, recipes in data.items() if name not in drawn],
        "models": _models(published),
        "training": _training(published),
        "samples": list(islice(_samples(recipes[0] for recipes in drawn.values()), PICTURES)),
    }


def _by_name(records: Iterable[Recipe]) -> dict[str, list[Recipe]]:
    """Return the replicates of each data set that has images or captions, by its name; word vectors have no adapter."""
    by_name: dict[str, list[Recipe]] = {}
    for record in sorted(records, key=lambda record: (record.track, record.name, record.digest)):
        if "dataset" in record.labels and "adapter" in record.document and record.track in TRACKS:
            by_name.setdefault(record.name, []).append(record)
    return by_name


def _phrase(name: str, replicates: list[Recipe]) -> str:
    """Return a data set with its size in words."""
    images = replicates[0].document.get("images")
    count = sum(images.values()) if isinstance(images, dict) else images
    about = [f"{count:,} images"] if isinstance(count, int) else []
    about += [f"{len(replicates)} replicates"] if len(replicates) > 1 else []
    return f"{name} ({', '.join(about)})" if about else name


def _models(published: Published) -> str:
    """Return the input size of the backbones in words; empty if no record has it."""
    models = [record for record in published.recipes.values() if record.kind == "backbones"]
    sizes = _settings("architecture.vision_cfg.image_size", models)
    return f"CLIPs that see {span(sizes)} pixels a side" if sizes else ""


def _settings(name: str, records: Iterable[Recipe]) -> list[int]:
    """Return the numbers above zero that a setting has in records, sorted."""
    values = (value for record in records for setting, value in flat(record.document) if setting == name)
    return sorted({value for value in values if isinstance(value, int) and value > 0})


def _training(published: Published) -> str:
    """Return the amount of training in words: runs, epochs, and minutes as far as they are known."""
    runs = {key: record for key, record in published.recipes.items() if record.kind == "runs"}
    if not runs:
        return ""
    epochs = _settings("settings.training.epochs", runs.values())
    lasting = f" of {span(epochs)} {'epoch' if epochs == [1] else 'epochs'}" if epochs else ""
    seconds = [published.made[key].seconds for key in runs if key in published.made]
    minutes = round(sum(seconds) / MINUTE)
    time = f", {pluralize(minutes, 'minute') if minutes else 'less than a minute'} of training"
    return f"{pluralize(len(runs), 'run')}{lasting}{time if len(seconds) == len(runs) else ''}"


def _samples(data: Iterable[Recipe]) -> Iterator[Document]:
    """Yield pictures of data sets in turns: the first of each, then the second of each."""
    drawn = [
        [
            {"address": png_address(picture), "label": label, "dataset": recipe.name}
            for picture, label in TRACKS[recipe.track].samples(recipe.document)
        ]
        for recipe in data
    ]
    yield from (sample for sample in chain.from_iterable(zip_longest(*drawn)) if sample)


def png_address(picture: Image.Image) -> str:
    """Return a picture as a data address of a bitmap."""
    file = io.BytesIO()
    picture.save(file, "png")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
