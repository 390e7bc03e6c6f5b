"""`recompose check`: what is still open in a plugin or a comparison."""

from recompose.console import print_json
from recompose.progress import printable
from recompose.scaffolds.checking import open_points
from recompose.workspace import Workspace


def show_open_points(work: Workspace, name: str, *, as_json: bool) -> int:
    """Print what is open; return the exit code."""
    points = open_points(work, name)
    if as_json:
        print_json(points)
    else:
        for point in points:
            print(printable(point.line))
        print(f"{name}: {len(points)} open" if points else f"{name}: nothing is open")
    return 1 if points else 0
