"""The page of items: what a model gets wrong, or where two models differ. One self-contained file."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from PIL import Image

from recompose.errors import DataError
from recompose.files import Document
from recompose.harness.items import DifferingItems, ItemOutcome, ItemSheet, ItemView, WorstItems
from recompose.site.build import FOLDER as SITE
from recompose.site.build import content_policy, read_asset
from recompose.tracks.vlc.suites.judges import ItemContent

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
    own = {name: (FOLDER / name).read_text(encoding="utf-8") for name in ("items.css", "items.js")}
    style, script = read_asset("style.css") + own["items.css"], own["items.js"]
    cards = _worst_cards(view) if isinstance(view, WorstItems) else _differing_cards(view)
    environment = Environment(loader=FileSystemLoader([FOLDER, SITE]), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("items.html").render(
        sheet=view.sheet if isinstance(view, WorstItems) else view.first,
        titles=[view.sheet.title] if isinstance(view, WorstItems) else [view.first.title, view.second.title],
        counts=view.counts,
        cards=cards,
        categories=list(dict.fromkeys(card["category"] for card in cards)),
        style=style,
        script=script,
        policy=content_policy(style, script),
    )


def _worst_cards(view: WorstItems) -> list[Document]:
    return [
        _card(view.sheet, outcome, [(view.sheet.title, outcome, view.sheet.describe(outcome))])
        for outcome in view.shown
    ]


def _differing_cards(view: DifferingItems) -> list[Document]:
    return [
        _card(
            view.first,
            difference.first,
            [
                (sheet.title, outcome, sheet.describe(outcome))
                for sheet, outcome in ((view.first, difference.first), (view.second, difference.second))
            ],
        )
        for difference in view.shown
    ]


def _card(sheet: ItemSheet, outcome: ItemOutcome, views: Sequence[tuple[str, ItemOutcome, ItemContent]]) -> Document:
    """Return the content of an item's card: its images, and the scores of each model."""
    images = list(dict.fromkeys(picture for _, _, content in views for picture in content.images))
    return {
        "task": outcome.task,
        "number": outcome.number,
        "category": outcome.category,
        "label": outcome.label,
        "outcomes": [shown.word for _, shown, _ in views],
        "is_tie": any(shown.is_tie for _, shown, _ in views),
        "images": [thumbnail(picture, sheet.root) for picture in images],
        "views": [
            {
                "title": title,
                "outcome": shown,
                "note": content.note,
                "query": content.query,
                "pairs": [
                    {
                        "image": None if pair.image is None else images.index(content.images[pair.image]) + 1,
                        "text": pair.text,
                        "other": pair.other,
                        "score": "" if pair.score is None else f"{pair.score:.4f}",
                        "is_true": pair.is_true,
                    }
                    for pair in content.pairs
                ],
            }
            for title, shown, content in views
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
