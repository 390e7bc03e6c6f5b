"""`downstream`: the cells, figures and claims of the reports that depend on a stored result."""

from rich.console import Console

from recompose.console import first, pluralize, print_json, print_line
from recompose.errors import DownstreamError
from recompose.params.mistakes import nearest
from recompose.tables.cells import Cell
from recompose.tables.published import PublishedLineage

NAMED = 8  # candidates that an error names


def find_key(published: PublishedLineage, start: str) -> str:
    """Return the key of the one result behind the reports that starts like this.

    Args:
        published: the lineage of the reports.
        start: the first characters of a digest, or of a key such as ``runs/0123``.

    Raises:
        DownstreamError: no record of the reports starts like this, or several do.
    """
    prefix = start.removeprefix("results/").rstrip("/")
    names = {key: (key, record.digest, f"{record.kind}/{record.digest}") for key, record in published.records.items()}
    keys = sorted(key for key in names if any(name.startswith(prefix) for name in names[key]))
    if prefix in keys:
        return prefix
    if not keys:
        known = [key if "/" in prefix else key.partition("/")[2] for key in names]
        message = f"the reports use nothing that starts with '{start}'{nearest(prefix, known)}"
        raise DownstreamError(message, code="unknown-key", place=start)
    if len(keys) > 1:
        message = f"{len(keys)} start with '{start}': {', '.join(first(keys, NAMED))}; add characters"
        raise DownstreamError(message, code="ambiguous-key", place=start)
    return keys[0]


def show_downstream(console: Console, published: PublishedLineage, start: str, *, as_json: bool) -> None:
    """Print the cells that a stored result reaches, a line for each row of an artifact, and what was made from it."""
    key = find_key(published, start)
    dependents = sorted(published.dependents(key))
    if as_json:
        cells = {
            name: [cell.model_dump(include={"view", "row", "column", "text"}) for cell in reached]
            for name, reached in published.reach(key).items()
        }
        print_json({"key": key, "name": published.records[key].name, "reaches": cells, "dependents": dependents})
        return
    print_line(console, (key, "bold"), f"  {_title(published, key)}")
    for name, reached in published.reach(key).items():
        print_line(console, (name, "bold"))
        rows: dict[tuple[str, str], list[Cell]] = {}
        for cell in reached:
            rows.setdefault((cell.row, cell.view), []).append(cell)
        for row, members in rows.items():
            texts = ", ".join(f"{cell.column} {cell.text}" for cell in members)
            print_line(console, f"    {' · '.join(filter(None, row))}: {texts}")
    if dependents:
        print_line(console, "these were made from it, so what they reach depends on it as well:")
        for dependent in dependents:
            print_line(console, f"    {dependent}  {_title(published, dependent)}")


def _title(published: PublishedLineage, key: str) -> str:
    """Return the name of a result with the number of cells and artifacts that it reaches."""
    reach = published.reach(key)
    cells = pluralize(sum(map(len, reach.values())), "cell")
    return f"{published.records[key].name} · {cells} of {pluralize(len(reach), 'artifact')}"
