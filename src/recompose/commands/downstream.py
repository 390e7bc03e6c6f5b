"""`trace --from`: the cells, figures and claims of the reports that depend on a stored result."""

from rich.console import Console

from recompose.console import pluralize, print_json, print_line
from recompose.params.mistakes import key_of
from recompose.parts.cells import Cell
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace


def show_downstream(work: Workspace, start: str, *, as_json: bool) -> None:
    """Print the cells that a stored result reaches, a line for each row of an artifact, and what was made from it.

    Raises:
        UnknownError: no key of the reports starts like this, or several do.
    """
    published, console = PublishedLineage.read(work, work.declared), Console()
    key = key_of(start, published.records, "the reports")
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
