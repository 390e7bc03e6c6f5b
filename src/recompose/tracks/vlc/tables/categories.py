"""A table of what methods change: the data that CLIP is tuned on, or the loss."""

from collections.abc import Iterator

from recompose.papers.declaration import Paper
from recompose.report.cells import Cell
from recompose.report.results import Results

CITED = "cited, not measured"
MEASURED = {  # a row of CLIP-CAE's Table 13 -> what of it is measured
    "NegCLIP": "negclip: negatives made anew in each step, no additional images",
    "TSVLC": CITED,
    "syn-CLIP": CITED,
    "DAC": CITED,
    "CE-CLIP": "ce-clip: its losses, with negatives of WordNet and of swaps in place of a language model's",
    "SDS-CLIP": CITED,
    "CLIP-CAE (Ours)": "clip-cae: all four ways",
}


def categories(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """What is measured of each method that the paper's table has; nothing of this was measured: cells rest on no
    evaluations.
    """
    for row in paper.reported(name):
        yield Cell(row["row"], "here", "measured", MEASURED[row["row"]])
