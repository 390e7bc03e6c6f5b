"""The report site: one self-contained page."""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from PIL import Image

from recompose.audit.findings import Audit
from recompose.claims.differences import number_text
from recompose.files import Document, read_csv
from recompose.site.document import Site
from recompose.site.scope import png_address
from recompose.tables.published import Published
from recompose.tables.reports import Reports

FOLDER = Path(__file__).parent
SCRIPTS = ("script.js", "claim.js", "graph.js", "search.js")  # in the order in which they are joined
COLOURS = 256  # of pictures in the page
SHARPNESS = 1.4  # dots of a figure for each pixel that it is shown at


def page_of(reports: Reports, published: Published, audited: Audit) -> str:
    """Return the page of reports that shows an audit, with the figures that the store has."""
    work, figures = reports.work, dict[str, Path]()
    for recipe in reports.artifacts.values():
        if work.store.is_complete(recipe):
            figures |= reports.published(recipe)
    site = Site(work.papers, published, audited, work.params, work.catalogue)
    return page(site, lambda name: figures.get(name, work.reports / name))


def page(site: Site, file: Callable[[str], Path]) -> str:
    """Return the page of a site, given the path of a file by its place in the reports."""
    document = site.document()
    for paper in document["papers"]:
        paper["notes_html"] = notes_html(paper["notes"])
        for artifact in paper["artifacts"]:
            stem = f"{paper['name']}/{artifact['name']}"
            artifact["picture"] = picture(file(f"{stem}.png"))
            artifact["lines"] = forest_lines(artifact["digits"], file(f"{stem}.csv")) if artifact["digits"] else []
    environment = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined)
    style, script = read_asset("style.css"), "".join(map(read_asset, SCRIPTS))
    return environment.get_template("page.html").render(
        doc=document,
        data=pack(_script_data(document)),
        style=style,
        script=script,
        policy=content_policy(style, script),
    )


def _script_data(document: Document) -> Document:
    """Return what the page's script reads; keys that thousands of cells repeat are places among the stored folders."""
    stored = dict(sorted(document["stored"].items()))
    places = {key: place for place, key in enumerate(stored)}

    def numbered(content: Document, part: str) -> Document:
        return content | {part: [places.get(key, key) for key in content[part]]}

    return {
        "cells": [numbered(cell, "made_from") for cell in document["cells"]],
        "claims": document["claims"],
        "stored": {key: numbered(folder, "needs") for key, folder in stored.items()},
    }


def read_asset(name: str) -> str:
    """Return the text of a file beside this module."""
    return (FOLDER / name).read_text(encoding="utf-8")


def content_policy(style: str, script: str) -> str:
    """Return the content security policy: only the page's own style and script, and nothing from elsewhere."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return f"default-src 'none'; img-src data:; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'"


def pack(content: Any) -> str:
    """Return content as JSON, compressed and in base64, for the page's script; equal content gives equal text."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def notes_html(markdown: str) -> str:
    """Return notes as HTML with headings from the third level; HTML in them becomes text, pictures become links."""
    reader = MarkdownIt("commonmark", {"html": False}).disable("image")
    tokens = reader.parse(markdown)
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"
    html: str = reader.renderer.render(tokens, reader.options, {})
    return html


def picture(path: Path) -> Document | None:
    """Return a bitmap for the page, with the pixels that it takes if there is room, or None if there is none.

    It has few colours, for a third of the bytes; the file beside the page has all of them. The octree takes a tenth of
    the time of other quantizers, since an audit quantizes every figure.
    """
    if not path.is_file():
        return None
    with Image.open(path) as image:
        quantized = image.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    width, height = (max(1, round(side / SHARPNESS)) for side in quantized.size)
    return {"address": png_address(quantized), "width": width, "height": height}


def forest_lines(digits: Mapping[str, int], path: Path) -> list[dict[str, str]]:
    """Return the comparisons of a forest plot.

    Args:
        digits: of the metric of each claim.
        path: the file of numbers beside the plot; without it, there are no lines.
    """
    if not path.is_file():
        return []
    lines = []
    for row in read_csv(path):
        places = digits.get(row["claims"].partition(" ")[0], 1)
        difference, low, high = (_number(row[name], places) for name in ("difference", "low", "high"))
        verdict = {"kind": row["verdict"], "reading": row["verdict"].removesuffix(" here")}
        interval = {"difference": difference, "interval": f"{low} to {high}" if low and high else ""}
        lines.append({name: row[name] for name in ("dataset", "metric", "comparison", "unit")} | verdict | interval)
    return lines


def _number(text: str, digits: int) -> str:
    return number_text(float(text), digits, "+") if text else ""
