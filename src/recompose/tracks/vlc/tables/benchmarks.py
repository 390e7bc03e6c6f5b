"""The table of benchmarks: their queries, scoring, licences and availability."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recompose.papers.declaration import Paper
from recompose.tables.cells import Cell
from recompose.tables.results import Results
from recompose.tracks.vlc.suites.aggregation import COMP
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS, RETRIEVALS, SUBTASKS, SubTask

UNKNOWN, NONE = "unknown", "-"
QUERIES = {"i2t": "image to text", "t2i": "text to image", "group": "group"}
TIES = {"strict": "wrong", "lenient": "right", "first": "the first one"}


@dataclass(frozen=True)
class BenchmarkSource:
    """The licence and availability of a benchmark."""

    name: str
    suite: str  # the suite of sub-tasks, or a retrieval set, or ``elevater``
    licence: str  # of annotations, as its repository or its paper states; images have licences of their own
    state: str  # its availability


SOURCES = (
    BenchmarkSource(
        "ARO", "aro", "MIT", "two of four annotation files are published; the order ones are made by its code"
    ),
    BenchmarkSource("CREPE", "crepe", UNKNOWN, "published; Visual Genome's images"),
    BenchmarkSource("SugarCrepe", "sugarcrepe", "MIT", "published; COCO's images"),
    BenchmarkSource("VALSE", "valse", UNKNOWN, "published; images of four other data sets"),
    BenchmarkSource("VL-Checklist", "vl_checklist", UNKNOWN, "published; some of HAKE's images have dead links"),
    BenchmarkSource("WhatsUp", "whatsup", "MIT", "published"),
    BenchmarkSource("ImageCoDe", "imagecode", "MIT", "published, without the answers of its test split"),
    BenchmarkSource(
        "SVO Probes", "svo_probes", "CC BY 4.0", "published as addresses of images, many of which are dead"
    ),
    BenchmarkSource("Winoground", "winoground", "research only", "gated: its conditions have to be accepted"),
    BenchmarkSource("EqBen", "eqben", UNKNOWN, "published, images of 100 GB"),
    BenchmarkSource("SPEC", "spec", UNKNOWN, "published"),
    BenchmarkSource(
        "ELEVATER", "elevater", "MIT (toolkit)", "the toolkit is published; 21 data sets with licences of their own"
    ),
    BenchmarkSource("COCO", "coco", "BSD-3-Clause (per the paper)", "published"),
    BenchmarkSource("Flickr30k", "flickr30k", "CC0 (per the paper)", "images on request by a form"),
    BenchmarkSource(
        "COCO-Counterfactuals", "coco_counterfactuals", "CC BY 4.0", "published; which 30 % the paper took is not"
    ),
)


def benchmarks(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the query, the scoring, the licence and the availability of each benchmark.

    The cells depend on no data and no evaluations.
    """
    for source in SOURCES:
        columns = {**_query_columns(source.suite), "licence": source.licence, "state today": source.state}
        for column, text in columns.items():
            value = float(text) if text.isdigit() else None
            yield Cell(row=source.name, column=column, text=text, value=value)


def _query_columns(suite: str) -> Mapping[str, str]:
    """Return a benchmark's kind of query, sub-tasks, items, and rule for ties."""
    if suite in RETRIEVALS:
        pool = RETRIEVALS[suite]
        items = f"{pool.images} images, {pool.captions} captions"
        return {"query": "retrieval", "sub-tasks": "2", "items": items, "a tie is": TIES[pool.ties]}
    if suite == "elevater":
        images = sum(task.images for task in CLASSIFICATIONS.values())
        return {
            "query": "classification",
            "sub-tasks": str(len(CLASSIFICATIONS)),
            "items": f"{images} images",
            "a tie is": TIES["first"],
        }
    tasks = [task for task in map(SUBTASKS.__getitem__, COMP.leaves) if task.suite == suite]
    return {
        "query": _distinct(QUERIES[task.query] for task in tasks),
        "sub-tasks": str(len(tasks)),
        "items": _items(tasks),
        "a tie is": _distinct(TIES[task.ties] for task in tasks),
    }


def _distinct(texts: Iterator[str]) -> str:
    """Join distinct texts in their order."""
    return ", ".join(dict.fromkeys(texts))


def _items(tasks: list[SubTask]) -> str:
    """Return the total of the sub-tasks' published items, or ``NONE`` where a count is not published."""
    counts = [task.items for task in tasks]
    return NONE if None in counts else str(sum(count for count in counts if count is not None))
