"""`recompose items`: the worst items of a suite, or those that only one of two results has right, on the terminal, as
plain values, and as a page, one self-contained file with small copies of the images.
"""

import base64
import io
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from PIL import Image
from rich.console import Console

from recompose.console import line, new_table, pluralize, print_json, print_line
from recompose.data.pictures import Picture
from recompose.errors import DataError
from recompose.files import Document, write_text
from recompose.harness.items import ItemOutcome, ItemSheet, ItemView, differing_items, worst_items
from recompose.progress import say
from recompose.site.build import FOLDER as SITE
from recompose.site.build import content_policy, read_asset
from recompose.tracks.vlc.suites.judges import ItemContent

TRUE = "* "  # before a pair that belongs together
SIDES = ("first", "second")
FOLDER = Path(__file__).parent
THUMBNAIL, QUALITY = (240, 240), 80  # pixels at most; of JPEG


def show_items(sheets: list[ItemSheet], worst: int, category: str | None, html: Path | None, *, as_json: bool) -> None:
    """Print so many items of one result, or those in which two differ, and write their page if there is a file for it.

    Raises:
        DataError: there is no such category, or the two cannot be compared.
    """
    sheets = [sheet.within(category) for sheet in sheets] if category else sheets
    view = differing_items(sheets[0], sheets[1], worst) if len(sheets) > 1 else worst_items(sheets[0], worst)
    if html:
        write_text(html, items_page(view))
        say(f"{html} is written")
    if as_json:
        print_json(items_document(view))
    else:
        _show(Console(), view)


def items_document(view: ItemView) -> Document:
    """Return the counts of categories and the items as plain values."""
    names, order = (SIDES, "differing") if len(view.sheets) > 1 else (("result",), "worst")
    items = []
    for outcomes in view.shown:
        first = outcomes[0]
        values = [_values(sheet, outcome) for sheet, outcome in zip(view.sheets, outcomes, strict=True)]
        place = {"task": first.task, "item": first.number, "category": first.category}
        items.append(place | (values[0] if len(values) == 1 else dict(zip(SIDES, values, strict=True))))
    return {
        **dict(zip(names, (sheet.title for sheet in view.sheets), strict=True)),
        "suite": view.sheets[0].suite,
        "items": len(view.sheets[0].outcomes),
        "left_out": view.sheets[0].left_out,
        "margin": view.sheets[0].meaning,
        "categories": [{"category": category, **counts} for category, counts in view.counts.items()],
        order: items,
    }


def _values(sheet: ItemSheet, outcome: ItemOutcome) -> Document:
    content = sheet.describe(outcome)
    return {
        "margin": outcome.margin,
        "right": outcome.is_right,
        "tie": outcome.is_tie,
        "images": [{"path": picture.path, "box": picture.box} for picture in content.images],
        "scores": [vars(pair) for pair in content.pairs],
        "note": content.note,
    }


def _show(console: Console, view: ItemView) -> None:
    """Print the counts of categories, and the items with their images, captions and scores."""
    sheet, titles = view.sheets[0], [model.title for model in view.sheets]
    heading = titles[0] if len(titles) == 1 else f"where {titles[0]} (first) and {titles[1]} (second) differ"
    print_line(console, (f"{sheet.suite}: {heading}", "bold"))
    names = list(next(iter(view.counts.values()), {}))
    table = new_table(["category"], [name.replace("_", " ") for name in names])
    for category, counts in view.counts.items():
        table.add_row(line(category), *(count_text(name, counts[name]) for name in names))
    console.print(table)
    print_line(console, (f"A margin is {sheet.meaning}.", "dim"))
    if sheet.left_out:
        print_line(console, (f"{pluralize(sheet.left_out, 'item')} without scores left out.", "dim"))
    for place, outcomes in enumerate(view.shown, start=1):
        contents = [model.describe(outcome) for model, outcome in zip(view.sheets, outcomes, strict=True)]
        words = [
            f"{outcome.word}{', tie' if outcome.is_tie else ''}, margin {outcome.margin:+.4g}" for outcome in outcomes
        ]
        outcome, alone = outcomes[0], words[0] if len(words) == 1 else ""
        label = f" ({outcome.label})" if outcome.label else ""
        print_line(
            console, (f"{place}. {outcome.task}, item {outcome.number}{label}{f': {alone}' if alone else ''}", "bold")
        )
        texts = list(_image_lines(contents[0]))
        for name, word, content in zip(SIDES, words, contents, strict=False):
            texts += [*([] if alone else [f"{name}: {word}"]), *_score_lines(content)]
        for text in texts:
            print_line(console, f"   {text}")


def count_text(name: str, count: float | None) -> str:
    """Return a count of a category as it is shown."""
    return "" if count is None else f"{100 * count:.1f} %" if name == "accuracy" else f"{count:,}"


def _image_lines(content: ItemContent) -> Iterator[str]:
    """Yield an item's images, and the text that all of them are scored with, if there is one."""
    for number, picture in enumerate(content.images, start=1):
        name = f"image {number}: " if len(content.images) > 1 else "image: "
        yield f"{name}{picture.path}" + (f", region {list(picture.box)}" if picture.box else "")
    if content.query:
        yield f"caption: {content.query}"


def _score_lines(content: ItemContent) -> Iterator[str]:
    """Yield an item's pairs with their scores, and its note."""
    for pair in content.pairs:
        score = "" if pair.score is None else f"{pair.score:.4f}"
        image = f"image {pair.image + 1}  " if len(content.images) > 1 and pair.image is not None else ""
        text = "" if content.query else f"{pair.text} | {pair.other}" if pair.other else pair.text
        yield f"{score:>8} {TRUE if pair.is_true else '  '}{image}{text}".rstrip()
    if content.note:
        yield content.note


def items_page(view: ItemView) -> str:
    """Return the page of a model's worst items, or of those where two models differ; all content is escaped."""
    own_style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("items.css", "items.js"))
    style = read_asset("style.css") + own_style
    environment = Environment(loader=FileSystemLoader([FOLDER, SITE]), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("items.html").render(
        sheet=view.sheets[0],
        titles=[sheet.title for sheet in view.sheets],
        counts=view.counts,
        count_text=count_text,
        cards=[_card(view, outcomes) for outcomes in view.shown],
        categories=list(dict.fromkeys(outcomes[0].category for outcomes in view.shown)),
        style=style,
        script=script,
        policy=content_policy(style, script),
    )


def _card(view: ItemView, outcomes: tuple[ItemOutcome, ...]) -> Document:
    """Return the content of an item's card: its images, and the scores of each model."""
    pairs = zip(view.sheets, outcomes, strict=True)
    views: list[Document] = [
        {"title": sheet.title, "outcome": outcome, "content": sheet.describe(outcome)} for sheet, outcome in pairs
    ]
    images = views[0]["content"].images  # both models were given the same ones
    return {
        "outcomes": outcomes,
        "images": [_thumbnail(picture, view.sheets[0].root) for picture in images],
        "views": views,
    }


def _thumbnail(picture: Picture, root: Path) -> Document:
    """Return the path of an image with the address of a small copy, or the reason why it is not at hand."""
    try:
        image = picture.open(root)
    except DataError:
        is_absent = not (root / picture.path).is_file()
        return {"name": picture.path, "fault": "it is absent" if is_absent else "it is no readable image"}
    image.thumbnail(THUMBNAIL, Image.Resampling.BICUBIC)
    file = io.BytesIO()
    image.save(file, "jpeg", quality=QUALITY)
    address = f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
    return {"name": picture.path, "address": address}
