"""The tables of benchmarks, with their queries, scoring, licences and availability, and of the methods' categories:
changed training data, or a changed loss.
"""

from collections.abc import Iterator, Mapping

from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.parts.results import Results
from recompose.tracks.vlc.suites.catalogue import OVER_SUITES, PUBLISHED
from recompose.tracks.vlc.suites.subtasks import SubTask

NONE = "-"
QUERIES = {
    "i2t": "image to text",
    "t2i": "text to image",
    "group": "group",
    "classes": "classification",
    "retrieval": "retrieval",
}
TIES = {"strict": "wrong", "lenient": "right", "first": "the first one"}


COUNTED = {leaf for tree in OVER_SUITES for leaf in tree.leaves}
ROWS = (
    *("ARO", "CREPE", "SugarCrepe", "VALSE", "VL-Checklist", "WhatsUp", "ImageCoDe", "SVO Probes", "Winoground"),
    *("EqBen", "SPEC", "ELEVATER", "COCO", "Flickr30k", "COCO-Counterfactuals"),
)


def benchmarks(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the query, the scoring, the licence and the availability of each benchmark.

    The cells depend on no data and no evaluations.
    """
    for row in ROWS:
        suite = row.lower().replace(" ", "_").replace("-", "_")
        module = PUBLISHED[suite]
        columns = {**_query_columns(suite), "licence": module.LICENCE, "state today": module.STATE}
        for column, text in columns.items():
            value = float(text) if text.isdigit() else None
            yield Cell(row=row, column=column, text=text, value=value)


def _query_columns(suite: str) -> Mapping[str, str]:
    """Return a benchmark's kind of query, sub-tasks, items, and rule for ties."""
    tasks = [task for task in PUBLISHED[suite].SUBTASKS if {*task.leaves} <= COUNTED]
    return {
        "query": _distinct(QUERIES[task.query] for task in tasks),
        "sub-tasks": str(sum(len(task.leaves) for task in tasks)),
        "items": _items(tasks),
        "a tie is": _distinct(TIES[task.ties] for task in tasks),
    }


def _distinct(texts: Iterator[str]) -> str:
    """Join distinct texts in their order."""
    return ", ".join(dict.fromkeys(texts))


def _items(tasks: list[SubTask]) -> str:
    """Return the total of the sub-tasks' published items, or ``NONE`` where a count is not published."""
    counts = [task.items for task in tasks]
    if None in counts:
        return NONE
    total = sum(count for count in counts if count is not None)
    if tasks[0].query not in ("classes", "retrieval"):
        return str(total)
    return f"{total} images" + (f", {tasks[0].captions} captions" if tasks[0].captions else "")


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
