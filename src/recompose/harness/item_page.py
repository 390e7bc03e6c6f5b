"""The page of items: what a model gets wrong, or where two models differ. One self-contained file."""

import base64
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from PIL import Image

from recompose.errors import DataError
from recompose.files import Document
from recompose.harness.items import ItemOutcome, ItemView
from recompose.site.build import FOLDER as SITE
from recompose.site.build import content_policy, read_asset

if TYPE_CHECKING:
    from recompose.data.pictures import Picture

FOLDER = Path(__file__).parent
THUMBNAIL = (240, 240)  # pixels at most
QUALITY = 80  # of JPEG


@dataclass(frozen=True)
class Thumbnail:
    """An image of an item."""

    name: str  # its path below the folder of raw files
    address: str  # with its bytes; empty where it is not at hand
    fault: str = ""  # the reason


def items_page(view: ItemView) -> str:
    """Return the page of a model's worst items, or of those where two models differ; all content is escaped."""
    assets = {name: (FOLDER / name).read_text(encoding="utf-8") for name in ("items.css", "items.js")}
    style, script = read_asset("style.css") + assets["items.css"], assets["items.js"]
    environment = Environment(loader=FileSystemLoader([FOLDER, SITE]), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("items.html").render(
        sheet=view.sheets[0],
        titles=[sheet.title for sheet in view.sheets],
        counts=view.counts,
        cards=[_card(view, outcomes) for outcomes in view.shown],
        categories=list(dict.fromkeys(outcomes[0].category for outcomes in view.shown)),
        style=style,
        script=script,
        policy=content_policy(style, script),
    )


def _card(view: ItemView, outcomes: tuple[ItemOutcome, ...]) -> Document:
    """Return the content of an item's card: its images, and the scores of each model."""
    contents = [sheet.describe(outcome) for sheet, outcome in zip(view.sheets, outcomes, strict=True)]
    images = list(dict.fromkeys(picture for content in contents for picture in content.images))
    return {
        "outcomes": outcomes,
        "images": [thumbnail(picture, view.sheets[0].root) for picture in images],
        "views": [
            {
                "title": sheet.title,
                "outcome": outcome,
                "content": content,
                # the place of each pair's image among those of the card, from 1
                "places": [
                    None if pair.image is None else images.index(content.images[pair.image]) + 1
                    for pair in content.pairs
                ],
            }
            for sheet, outcome, content in zip(view.sheets, outcomes, contents, strict=True)
        ],
    }


def thumbnail(picture: "Picture", root: Path) -> Thumbnail:
    """Return a small copy of an image, or the reason why it is not at hand."""
    try:
        image = picture.open(root)
    except DataError:
        is_absent = not (root / picture.path).is_file()
        return Thumbnail(picture.path, "", "it is absent" if is_absent else "it is no readable image")
    image.thumbnail(THUMBNAIL, Image.Resampling.BICUBIC)
    file = io.BytesIO()
    image.save(file, "jpeg", quality=QUALITY)
    return Thumbnail(picture.path, f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}")
