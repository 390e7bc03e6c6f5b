"""The report site: one page that needs nothing but itself."""

import base64
import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from PIL import Image

from recompose.site.document import Site

FOLDER = Path(__file__).parent
COLOURS = 256  # of pictures in the page


def page(site: Site, reports: Path) -> str:
    """The page of a site, with the drawings of its figures from the folder of reports; everything in it is escaped."""
    document = site.document()
    for paper in document["papers"]:
        paper["notes_html"] = notes(paper["notes"])
        for artifact in paper["artifacts"]:
            artifact["picture"] = picture(reports / paper["name"] / f"{artifact['name']}.png")
    environment = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined)
    behind = {"cells": document["cells"], "stored": document["stored"]}
    style, script = _own("style.css"), _own("script.js")
    return environment.get_template("page.html").render(
        doc=document, behind=packed(behind), style=style, script=script, policy=_policy(style, script)
    )


def _own(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """What a browser may do for the page: use its one style and its one script, and load nothing that is not in it."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return f"default-src 'none'; img-src data:; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'"


def packed(content: Any) -> str:
    """What the page's script unpacks: JSON, compressed to a seventh, as letters; of equal content equal ones."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def notes(markdown: str) -> str:
    """Notes as HTML below a heading of the second level; markup in them is shown as text, and a picture as a link to
    it.
    """
    reader = MarkdownIt("commonmark", {"html": False}).disable("image")
    tokens = reader.parse(markdown)
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"
    html: str = reader.renderer.render(tokens, reader.options, {})
    return html


def picture(path: Path) -> str:
    """A bitmap as an address that holds it, in few colours, which takes a third of the bytes: the file beside the page
    has them all. Empty where there is none.

    The octree finds colours in a tenth of the time that other ways take: an audit does it for every figure.
    """
    if not path.is_file():
        return ""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    file = io.BytesIO()
    few.save(file, "png")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
