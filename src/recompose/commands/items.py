"""`recompose items`: the worst items of a suite, or those that only one of two results has right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.console import pluralize, print_json, printable
from recompose.files import Document, write_text
from recompose.harness.evaluated_items import item_sheet
from recompose.harness.item_page import items_page
from recompose.harness.items import DifferingItems, ItemContent, ItemOutcome, ItemSheet, ItemView, WorstItems
from recompose.progress import say

TRUE = "* "  # before a pair that belongs together


@dataclass(frozen=True)
class ItemQuery:
    """The items that are asked for."""

    project: Path  # for evaluations of the workflow
    result: str  # a folder of an evaluation, the start of a digest, or <profile>/<method>
    suite: str
    worst: int  # the number of items
    category: str | None  # the only one, with those below it
    against: str | None  # another result
    data: Path  # the raw files of suites
    seed: int | None  # of a profile's method


def show_items(query: ItemQuery, html: Path | None, *, as_json: bool) -> None:
    """Print items, and write their page if there is a file for it."""
    view = find_items(query)
    if html:
        write_text(html, items_page(view))
        say(f"{html} is written")
    if as_json:
        print_json(items_document(view))
    else:
        show_view(Console(), view)


def find_items(query: ItemQuery) -> ItemView:
    """Return the worst items of a result, or those in which two differ."""
    results = [result for result in (query.result, query.against) if result]
    sheets = [item_sheet(query.project, result, query.suite, query.data, query.seed) for result in results]
    if query.category:
        sheets = [sheet.within(query.category) for sheet in sheets]
    sheet, *others = sheets
    return DifferingItems.of(sheet, others[0], query.worst) if others else WorstItems.of(sheet, query.worst)


def show_view(console: Console, view: ItemView) -> None:
    """Print the counts of categories, and some of the items."""
    if isinstance(view, WorstItems):
        _show_worst(console, view)
    else:
        _show_differing(console, view)


def _show_worst(console: Console, view: WorstItems) -> None:
    _print(console, f"{view.sheet.suite}: {view.sheet.title}", "bold")
    rows = [
        (count.category, *map(_number, (count.items, _percent(count.accuracy), count.ties))) for count in view.counts
    ]
    console.print(_table(("category", "items", "% right", "ties"), rows))
    _show_notes(console, view.sheet)
    for place, outcome in enumerate(view.shown, start=1):
        _print(console, f"{place}. {_title(outcome)}: {_word(outcome)}", "bold")
        content = view.sheet.describe(outcome)
        for line in (*_image_lines(content), *_score_lines(content)):
            _print(console, f"   {line}")


def _show_differing(console: Console, view: DifferingItems) -> None:
    first, second = view.first, view.second
    _print(console, f"{first.suite}: where {first.title} (first) and {second.title} (second) differ", "bold")
    rows = [
        (count.category, *map(_number, (count.items, count.both, count.only_first, count.only_second, count.neither)))
        for count in view.counts
    ]
    console.print(_table(("category", "items", "both right", "only first", "only second", "neither"), rows))
    _show_notes(console, first)
    for place, difference in enumerate(view.shown, start=1):
        _print(console, f"{place}. {_title(difference.first)}", "bold")
        for line in _image_lines(first.describe(difference.first)):
            _print(console, f"   {line}")
        for name, sheet, outcome in (("first", first, difference.first), ("second", second, difference.second)):
            _print(console, f"   {name}: {_word(outcome)}")
            for line in _score_lines(sheet.describe(outcome)):
                _print(console, f"   {line}")


def items_document(view: ItemView) -> Document:
    """Return the counts of categories and the items as plain values."""
    if isinstance(view, WorstItems):
        return {
            "result": view.sheet.title,
            "suite": view.sheet.suite,
            "items": len(view.sheet.outcomes),
            "left_out": view.sheet.left_out,
            "margin": view.sheet.meaning,
            "categories": [vars(count) | {"accuracy": count.accuracy} for count in view.counts],
            "worst": [_place(outcome) | _values(view.sheet, outcome) for outcome in view.shown],
        }
    return {
        "first": view.first.title,
        "second": view.second.title,
        "suite": view.first.suite,
        "margin": view.first.meaning,
        "categories": [vars(count) | {"items": count.items} for count in view.counts],
        "differing": [
            _place(difference.first)
            | {"first": _values(view.first, difference.first), "second": _values(view.second, difference.second)}
            for difference in view.shown
        ],
    }


def _place(outcome: ItemOutcome) -> Document:
    return {"task": outcome.task, "item": outcome.number, "category": outcome.category}


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


def _show_notes(console: Console, sheet: ItemSheet) -> None:
    _print(console, f"A margin is {sheet.meaning}.", "dim")
    if sheet.left_out:
        _print(console, f"{pluralize(sheet.left_out, 'item')} without scores left out.", "dim")


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


def _title(outcome: ItemOutcome) -> str:
    label = f" ({outcome.label})" if outcome.label else ""
    return f"{outcome.task}, item {outcome.number}{label}"


def _word(outcome: ItemOutcome) -> str:
    return f"{outcome.word}{', tie' if outcome.is_tie else ''}, margin {outcome.margin:+.4g}"


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for place, name in enumerate(names):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.1f}"


def _number(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:,}"


def _print(console: Console, line: str, style: str = "") -> None:
    console.print(Text(printable(line), style=style), soft_wrap=True)
