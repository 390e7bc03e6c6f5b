"""The entry point to draw a figure of any kind."""

from recompose.papers.declaration import Paper
from recompose.tables.kinds import find_kind
from recompose.tables.results import Results
from recompose.tables.style import Sheet, styled
from recompose.tracks.track import function


def draw(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw a figure from its complete evaluations."""
    with styled():
        function(find_kind(paper, name).place)(results, paper, name, sheet)
