"""`recompose items`: the worst items of a suite, or those that only one of two results has right."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from recompose.console import line, new_table, pluralize, print_json, print_line
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
    print_line(console, (f"{view.sheet.suite}: {view.sheet.title}", "bold"))
    shares = [None if count.accuracy is None else round(100 * count.accuracy, 1) for count in view.counts]
    rows = [(c.category, c.items, share, c.ties) for c, share in zip(view.counts, shares, strict=True)]
    _show_counts(console, ("category", "items", "% right", "ties"), rows)
    _show_notes(console, view.sheet)
    for place, outcome in enumerate(view.shown, start=1):
        print_line(console, (f"{place}. {_title(outcome)}: {_word(outcome)}", "bold"))
        content = view.sheet.describe(outcome)
        for text in (*_image_lines(content), *_score_lines(content)):
            print_line(console, f"   {text}")


def _show_differing(console: Console, view: DifferingItems) -> None:
    first, second = view.first, view.second
    print_line(console, (f"{first.suite}: where {first.title} (first) and {second.title} (second) differ", "bold"))
    rows = [(c.category, c.items, c.both, c.only_first, c.only_second, c.neither) for c in view.counts]
    _show_counts(console, ("category", "items", "both right", "only first", "only second", "neither"), rows)
    _show_notes(console, first)
    for place, difference in enumerate(view.shown, start=1):
        print_line(console, (f"{place}. {_title(difference.first)}", "bold"))
        for text in _image_lines(first.describe(difference.first)):
            print_line(console, f"   {text}")
        for name, sheet, outcome in (("first", first, difference.first), ("second", second, difference.second)):
            print_line(console, f"   {name}: {_word(outcome)}")
            for text in _score_lines(sheet.describe(outcome)):
                print_line(console, f"   {text}")


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
    print_line(console, (f"A margin is {sheet.meaning}.", "dim"))
    if sheet.left_out:
        print_line(console, (f"{pluralize(sheet.left_out, 'item')} without scores left out.", "dim"))


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


def _show_counts(console: Console, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a row of numbers for each category."""
    table = new_table(names[:1], names[1:])
    for category, *numbers in rows:
        table.add_row(line(str(category)), *("" if number is None else f"{number:,}" for number in numbers))
    console.print(table)
