"""A table of benchmarks: what they ask, and what can still be had of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recompose.papers.declaration import Paper
from recompose.report.cells import Cell
from recompose.report.results import Results
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS, RETRIEVALS, SUBTASKS, SubTask

UNKNOWN, NONE = "unknown", "-"
QUERIES = {"i2t": "image to text", "t2i": "text to image", "group": "group"}
TIES = {"strict": "wrong", "lenient": "right", "first": "the first one"}


@dataclass(frozen=True)
class Source:
    """What is known of a benchmark beyond its items."""

    name: str
    suite: str  # as sub-tasks are called, or a retrieval set, or ``elevater``
    licence: str  # that its repository or its paper states, of annotations; images have licences of their own
    state: str  # what can still be had of it


SOURCES = (
    Source("ARO", "aro", "MIT", "two of four annotation files are published; the order ones are made by its code"),
    Source("CREPE", "crepe", UNKNOWN, "published; Visual Genome's images"),
    Source("SugarCrepe", "sugarcrepe", "MIT", "published; COCO's images"),
    Source("VALSE", "valse", UNKNOWN, "published; images of four other data sets"),
    Source("VL-Checklist", "vl_checklist", UNKNOWN, "published; some of HAKE's images have dead links"),
    Source("WhatsUp", "whatsup", "MIT", "published"),
    Source("ImageCoDe", "imagecode", "MIT", "published, without the answers of its test split"),
    Source("SVO Probes", "svo_probes", "CC BY 4.0", "published as addresses of images, many of which are dead"),
    Source("Winoground", "winoground", "research only", "gated: its conditions have to be accepted"),
    Source("EqBen", "eqben", UNKNOWN, "published, images of 100 GB"),
    Source("SPEC", "spec", UNKNOWN, "published"),
    Source(
        "ELEVATER", "elevater", "MIT (toolkit)", "the toolkit is published; 21 data sets with licences of their own"
    ),
    Source("COCO", "coco", "BSD-3-Clause (as the paper has it)", "published"),
    Source("Flickr30k", "flickr30k", "CC0 (as the paper has it)", "images are asked for by a form"),
    Source("COCO-Counterfactuals", "coco_counterfactuals", "CC BY 4.0", "published; which 30 % the paper took is not"),
)


def benchmarks(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """What is asked in each benchmark, how it is scored here, its licence, and what can still be had of it.

    Nothing of this was measured: cells rest on no data and no evaluations.
    """
    for source in SOURCES:
        columns = {**_asked(source.suite), "licence": source.licence, "state today": source.state}
        for column, text in columns.items():
            value = float(text) if text.isdigit() else None
            yield Cell(source.name, column, "measured", text, value)


def _asked(suite: str) -> Mapping[str, str]:
    """What a benchmark asks: kind of query, sub-tasks, items, and what a tie of the right answer counts as."""
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
    tasks = [task for task in SUBTASKS.values() if task.suite == suite]
    return {
        "query": _each(QUERIES[task.query] for task in tasks),
        "sub-tasks": str(len(tasks)),
        "items": _items(tasks),
        "a tie is": _each(TIES[task.ties] for task in tasks),
    }


def _each(texts: Iterator[str]) -> str:
    """Different texts, in their order."""
    return ", ".join(dict.fromkeys(texts))


def _items(tasks: list[SubTask]) -> str:
    """How many items sub-tasks have together, as far as that is published."""
    counts = [task.items for task in tasks]
    return NONE if None in counts else str(sum(count for count in counts if count is not None))
