"""Words, numbers and lines for a terminal.

Text from files and names is printed as it is: it is no markup, and sends no commands to the terminal.
"""

import json
from collections.abc import Iterable, Mapping

from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.progress import printable

Part = str | tuple[str, str]  # a text, or a text and its style


def print_json(content: object) -> None:
    """Print dataclasses, models and plain values as JSON."""
    print(json.dumps(to_jsonable_python(content), indent=2, allow_nan=False))


def line(*parts: Part) -> Text:
    """Return texts as one line."""
    return Text.assemble(
        *(printable(part) if isinstance(part, str) else (printable(part[0]), part[1]) for part in parts)
    )


def print_line(console: Console, *parts: Part) -> None:
    """Print texts as one line, which the terminal wraps where it is too long."""
    console.print(line(*parts), soft_wrap=True)


def new_table(names: Iterable[str], numbers: Iterable[str] = ()) -> Table:
    """Return a table without borders: columns of names, which are never cut, and right-aligned columns of numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))  # fits 80 columns
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def print_findings(subject: str, rows: Iterable[tuple[str, Part, str, str]]) -> None:
    """Print a table of what was examined: the name, its state, what was found, and a remedy, which may be empty."""
    table = new_table([subject, "", "finding and remedy"])
    for name, state, finding, remedy in rows:
        text = line(finding)
        if remedy:
            text.append(f"\n  {printable(remedy)}", "dim")
        table.add_row(line(name), line(state), text)
    Console().print(table)


def show_facts(heading: tuple[str, str], facts: Iterable[tuple[str, str]], colours: Mapping[str, str] = {}) -> None:
    """Print a heading, and titles, each once, with their texts in two columns; a fact without a text is left out."""
    console, table, last = Console(), Table.grid(padding=(0, 2)), ""
    print_line(console, (heading[0], "bold"), f"  {heading[1]}")
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for title, text in facts:
        if text:
            table.add_row(line("" if title == last else title), line((text, colours.get(text, ""))))
            last = title
    console.print(table)


def rough_duration(seconds: float) -> str:
    """Return an approximate duration in the one unit that suits it.

    >>> rough_duration(45), rough_duration(700), rough_duration(20_000), rough_duration(1_000_000)
    ('45 s', '12 min', '5.6 h', '278 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes, hours = seconds / 60, seconds / 3600
    return f"{minutes:.0f} min" if minutes < 90 else f"{hours:.{0 if hours >= 100 else 1}f} h"


def pluralize(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> pluralize(1, "run"), pluralize(2, "run"), pluralize(2, "process", "processes")
    ('1 run', '2 runs', '2 processes')
    """
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def counted(number: int, kind: str) -> str:
    """Return a number of stored results of a kind, which is named in the plural.

    >>> counted(1, "runs"), counted(2, "runs"), counted(2, "data"), counted(2, "pixels")
    ('1 run', '2 runs', '2 data sets', '2 sets of pixels')
    """
    singular = {"data": "data set", "pixels": "set of pixels", "features": "set of features"}
    noun = singular.get(kind, kind.removesuffix("s"))
    return pluralize(number, noun, noun.replace("set", "sets") if "set" in noun else kind)


def first(texts: Iterable[str], most: int) -> list[str]:
    """Return the first texts, and how many more there are.

    >>> first("abcd", 2), first("ab", 2)
    (['a', 'b', 'and 2 more'], ['a', 'b'])
    """
    listed = list(texts)
    return listed if len(listed) <= most else [*listed[:most], f"and {len(listed) - most} more"]


def gibibytes(count: int) -> str:
    """Return an amount of memory.

    >>> gibibytes(3 * 2**29), gibibytes(2**25)
    ('1.5 GiB', '32 MiB')
    """
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 / 10 else f"{count / 2**20:.0f} MiB"
