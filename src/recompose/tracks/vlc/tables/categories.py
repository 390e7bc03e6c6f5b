"""The table of the methods' categories: changed training data, or a changed loss."""

from collections.abc import Iterator

from recompose.papers.declaration import Paper
from recompose.tables.cells import Cell
from recompose.tables.results import Results

CITED = "cited, not measured"
MEASURED = {  # a row of CLIP-CAE's Table 13 -> the method measured here
    "NegCLIP": "negclip: new negatives in each step, no additional images",
    "TSVLC": CITED,
    "syn-CLIP": CITED,
    "DAC": CITED,
    "CE-CLIP": "ce-clip: its losses, with negatives of WordNet and of swaps in place of a language model's",
    "SDS-CLIP": CITED,
    "CLIP-CAE (Ours)": "clip-cae: all four methods of attribution",
}


def categories(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the method measured here for each row of the paper's table; the cells depend on no evaluations."""
    for row in paper.reported(name):
        yield Cell(row=row["row"], column="here", text=MEASURED[row["row"]])
