"""The report site as a document: what stands where, and that everything in it is text."""

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder

import pytest
from PIL import Image

from recompose.audit.findings import Audit, Finding
from recompose.claims.cells import PARTS
from recompose.papers import declaration
from recompose.papers.declaration import Artifact, Claim, Flag, Headline, Margin, Paper, View
from recompose.recipes.plan import Recipe
from recompose.recipes.records import Build
from recompose.recipes.state import UNCHECKED, State
from recompose.site.build import notes_html, page
from recompose.site.document import Site
from recompose.site.scope import scope_of
from recompose.tracks import TRACKS
from tests.audit.invented import cell_of, published_of
from tests.configuration import MADE, params_text, parse_params

pytestmark = pytest.mark.slow

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    """'"><img src=x onerror=alert(3)>""",
    "{{ 7 * 7 }}{% include 'x' %}",
    "[bold]one[/bold]\n\ntwo&three;",
    "](javascript:alert(4)) <!-- -->",
]
PRINTED = {"A": ("50.1", "9"), "B": ("49.9 ± 0.2", "-"), "D": ("50.1", "7")}  # row -> mit-states AUC, params
# row, column, view -> values of its runs
MEASURED = {
    ("A", "d AUC", "exact"): [10.0, 12.0, 14.0],
    ("B", "d AUC", "exact"): [20.0, 20.04],
    ("C", "d AUC", "exact"): [20.02],
    ("D", "d AUC", "exact"): [],
    ("A", "d time", "exact"): [3.0],
    ("B", "d time", "exact"): [1.0],
    ("A", "d AUC", "field"): [30.0],
    ("B", "d AUC", "field"): [29.0],
}
MEASURE = TRACKS["czsl"].headline
# of each claim on two data sets
VERDICTS = {
    "first": ("supported here", "reversed here"),
    "second": ("reversed here", "undecided (one seed)"),
    "third": ("undecided (not run)", "reversed here"),
}


REST_OF_CLAIM = ("+1.00", "+0.50 to +1.50", "0.7", "3", "0.012", "0.40", "12 / 30")  # its cells beside the verdict


class Reader(HTMLParser):
    """Reads a page into elements, as a browser would that is not asked to repair anything."""

    VOID = ("meta", "link", "img", "br", "input", "hr")

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self._tree, self.tags = TreeBuilder(), []  # type: ignore[var-annotated]
        self._tree.start("", {})
        self.feed(html)
        self.close()
        self.root = self._tree.end("")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tree.start(tag, {name: value or "" for name, value in attrs})
        self.tags.append((tag, *(name for name, _ in attrs)))
        if tag in self.VOID:
            self._tree.end(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._tree.end(tag).tag == tag

    def handle_data(self, data: str) -> None:
        self._tree.data(data)


def text_of(element: Element | None) -> str:
    """All text in an element."""
    assert element is not None
    return "".join(element.itertext())


def evaluation_of(seed: int, name: Callable[[str], str] = str, method: str = "csp", **settings: Any) -> Recipe:
    """An evaluation with a run that has these settings, if there are any."""
    run = {"run": Recipe("runs", f"{method} {seed}", {"settings": settings})} if settings else {}
    own = {} if settings else {"lr": 0.5, name("prompt"): name("a photo of {state}")}
    labels = {"method": method, "dataset": "shapes-pairs", "seed": seed}
    title, code = name(f"{method} on shapes-pairs, seed {seed}"), {"recompose.tracks.czsl.methods.csp": "1"}
    return Recipe("evaluations", title, {"settings": own, "seed": seed, "of": method}, run, code, "czsl", labels)


def cell(
    row: str, column: str, view: str, values: list[float], evaluations: list[Recipe], text: str = "", **more: Any
) -> dict[str, Any]:
    """A cell of a mean over the first evaluations, a value each."""
    mean = sum(values) / len(values) if values else None
    spread = 1.0 if len(values) > 1 else None
    shown = "not run" if mean is None else f"{mean:.1f}" + (f" ± {spread}" if spread else "")
    return cell_of(
        row,
        evaluations[: len(values)],
        column=column,
        view=view,
        benchmark=more.pop("benchmark", "d"),
        metric=more.pop("metric", MEASURE if column.endswith("AUC") else "cost/epoch_seconds"),
        names=more.pop("names", ["csp"]),
        text=text or shown,
        value=mean,
        spread=spread,
        better=int(column.endswith("AUC")),
        values=values,
        **more,
    )


def claim_of(sentence: str) -> Claim:
    """A claim that one method is better than another."""
    margin = Margin(value=1.0, source="by hand")
    return Claim(sentence=sentence, artifact="table-1", metric=MEASURE, margin=margin, higher="csp", lower=["clip"])


class Toy:
    """A paper with a table measured in two ways, one not measured, a figure and claims; all its names can be
    changed.
    """

    def __init__(self, folder: Path, name: Callable[[str], str] = str) -> None:
        self.folder, self.name = folder, name
        self.states: dict[tuple[str, str], str] = {}
        self.evaluations = [evaluation_of(seed, name) for seed in range(3)]
        self.cells = [
            self.cell(name(row), name(column), view, values) for (row, column, view), values in MEASURED.items()
        ]
        self.claims = [
            self.cell(name(claim), f"{dataset} {part}", "", values, text, part=part, benchmark=dataset)
            for claim, verdicts in VERDICTS.items()
            for dataset, verdict in zip((name("d"), name("e")), verdicts, strict=True)
            for values in [[] if "not run" in verdict else [1.0, 2.0, 3.0]]
            for part, text in zip(PARTS, (verdict, *REST_OF_CLAIM), strict=True)
        ]
        reported = folder / "papers/toy/reported"
        reported.mkdir(parents=True)
        lines = [[name("mit-states AUC"), name("params")], *PRINTED.values()]
        rows = ["row", *map(name, PRINTED)]
        text = [",".join(_csv(each) for each in (row, *line)) for row, line in zip(rows, lines, strict=True)]
        for table in ("table-1", "table-2"):
            (reported / f"{table}.csv").write_text("\n".join(text) + "\n")
        (folder / "papers/toy/notes.md").write_text("# Notes\n\n## Of a table\n\nText.\n")
        (folder / "reports/toy").mkdir(parents=True)
        Image.new("RGB", (2, 2)).save(folder / "reports/toy/figure-1.png")

    def cell(self, *place: Any, **more: Any) -> dict[str, Any]:
        *where, values = place[:4]
        return cell(*where, values, self.evaluations, *place[4:], **more)

    @property
    def paper(self) -> Paper:
        """Its declaration."""
        name = self.name
        columns = {name("AUC"): MEASURE, name("time"): "cost/epoch_seconds"}
        views = {view: View(heading=name(f"Measured {view}"), columns=columns) for view in ("exact", "field")}
        says = {name("A"): {name("the text"): name("so")}, name("B"): {name("the code"): name("nothing")}}
        quoted, rows = View(heading=name("What is said"), says=says), {name("A"): "csp", name("B"): "clip"}
        flag = Flag(row=name("B"), column=name("mit-states AUC"), correct=name("48"), why=name("a slip"))
        first = Artifact(kind="metrics", caption=name("A caption"), note=name("A note"), views=views, flags=[flag])
        about = {part: name(part.capitalize()) for part in ("title", "authors", "venue")}
        return Paper(
            name="toy",
            **about,
            track="czsl",
            datasets={name("mit-states"): "MIT-States"},
            headline=Headline(artifact="table-1", method="toy"),
            artifacts={
                "table-1": first,
                "table-2": Artifact(kind="metrics", caption=name("Costs"), rows=rows, views={"said": quoted}),
                "figure-1": Artifact(kind="curves", caption=name("A figure"), views={"exact": views["exact"]}),
                "claims": Artifact(kind="claims", caption=name("Claims")),
            },
            claims={name(claim): claim_of(name("It is so")) for claim in VERDICTS},
        )

    @property
    def site(self) -> Site:
        """The site of it."""
        figure = [self.cell(self.name("A"), self.name("d"), "exact", [1.0])]
        shown = {"toy/table-1": self.cells, "toy/figure-1": figure, "toy/claims": self.claims}
        files = {self.name("scores.txt"): {"sha256": "2" * 64, "bytes": 3}}
        made = {**MADE, "seconds": 59.5, "inputs": {self.name("data"): "1" * 64}, "files": files}
        build = Build.model_validate(made)
        builds = {recipe.key: build for recipe in self.evaluations}
        published = published_of({name: (self.evaluations, cells) for name, cells in shown.items()}, made=builds)
        states: dict[str, dict[tuple[str, ...], State]] = {}
        for artifact, cells in shown.items():
            for c in cells:
                state = self.states.get((c["row"], c["column"]), "current")
                why = (self.name("lr was 1"),) if state == "outdated" else ()
                states.setdefault(artifact, {})["measured", c["view"], c["row"], c["column"]] = State(state, why)
        findings = [Finding.of("outdated", self.name("toy/table-1"), self.name("lr was 1"))] if self.states else []
        findings.append(Finding.of(UNCHECKED, self.name("a thing"), ""))
        audit = Audit(findings, states, 3, 12, {})
        return Site([self.paper], published, audit, parse_params(params_text()), TRACKS)

    @property
    def html(self) -> str:
        """Its page."""
        return page(self.site, lambda name: self.folder / "reports" / name)

    def read(self) -> Element:
        """Its page, read."""
        return Reader(self.html).root


def _csv(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    monkeypatch.setattr(declaration, "FOLDER", tmp_path / "papers")
    return Toy(tmp_path)


def article(root: Element, name: str) -> Element:
    return next(each for each in root.iter("article") if each.get("id") == f"toy-{name}")


def grids(root: Element) -> list[tuple[dict[str, list[str]], dict[tuple[str, str, str], Element]]]:
    """Of each table of the first artifact its columns by group, and its cells by group, row and column."""
    found = []
    for table in article(root, "table-1").iter("table"):
        groups, columns = (line.findall("th") for line in table.findall("thead/tr"))
        names = [(column.attrib["class"], text_of(column)) for column in columns[1:]]
        widths = {group.attrib["class"]: int(group.attrib["colspan"]) for group in groups}
        assert Counter(group for group, _ in names) == widths
        cells = {}
        for row in table.findall("tbody/tr"):
            for (group, column), value in zip(names, row.findall("td"), strict=True):
                cells[group, text_of(row.find(".//span[@class='name']")), column] = value
        found.append(({group: [c for g, c in names if g == group] for group in widths}, cells))
    return found


def data(root: Element) -> dict[str, Any]:
    """The values that the script reads."""
    letters = text_of(root.find(".//script[@id='data']"))
    return dict(json.loads(zlib.decompress(base64.b64decode(letters), wbits=31)))


def test_every_value_stands_once_in_each_grid_and_below_its_column(toy: Toy) -> None:
    root = toy.read()
    pages = grids(root)
    assert len(pages) == 2  # one for each way of measuring
    for view, (groups, cells) in zip(("exact", "field"), pages, strict=True):
        expected = {(row, column) for row, column, of in MEASURED if of == view}
        measured = list(dict.fromkeys(column for _, column, of in MEASURED if of == view))
        assert groups == {"measured": measured, "reported": ["mit-states AUC", "params"]}
        shown = {(r, c): each for (group, r, c), each in cells.items() if group == "measured" and text_of(each).strip()}
        assert shown.keys() == expected
        for (row, column), each in shown.items():
            (button,) = each.iter("button")
            number = data(root)["cells"][int(button.attrib["data-cell"])]
            assert (number["row"], number["column"], number["view"]) == (row, column, view)
            assert text_of(button) == number["text"]
        printed = {
            row: tuple(
                text_of(each)
                for column in groups["reported"]
                for each in cells["reported", row, column].iter("span")
                if "printed" in each.attrib["class"].split()
            )
            for row in PRINTED
        }
        assert printed == PRINTED


def test_an_error_in_print_is_shown_at_its_value_and_explained(toy: Toy) -> None:
    root = toy.read()
    for _, cells in grids(root):
        linked = {place: link.attrib["href"] for place, each in cells.items() for link in each.findall(".//sup/a")}
        assert linked == {("reported", "B", "mit-states AUC"): "#toy-table-1-flag-1"}
    note = root.find(".//li[@id='toy-table-1-flag-1']")
    assert text_of(note) == "B, mit-states AUC: correct is 48: a slip"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_text(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def page_of(folder: str, name: Callable[[str], str]) -> str:
        monkeypatch.setattr(declaration, "FOLDER", tmp_path / folder / "papers")
        toy = Toy(tmp_path / folder, name)
        toy.states[name("B"), name("d AUC")] = "outdated"
        return toy.html

    hostile = page_of("hostile", lambda name: f"{text} {name}")
    harmless = page_of("harmless", lambda name: f"{re.sub(r'[^ ]', 'x', text)} {name}")
    assert Reader(hostile).tags == Reader(harmless).tags  # no element and no attribute came of a name
    root = Reader(hostile).root
    rows = {row for _, cells in grids(root) for _, row, _ in cells}
    assert rows == {f"{text} {row}" for row in "ABCD"}
    assert {each["row"] for each in data(root)["cells"]} >= rows
    assert f"{text} It is so" in map(text_of, root.iter("q"))
    assert f"{text} csp on shapes-pairs, seed 0" in {each["name"] for each in data(root)["stored"].values()}


def test_notes_hold_text_links_and_headings_below_those_of_the_page() -> None:
    markdown = (
        "# One\n\n## Two\n\n<b onclick=x>raw</b>\n\n<script>alert(1)</script>\n\n[a](javascript:alert(2)) "
        "![b](http://example.org/b.png) `{{ c }}`\n"
    )
    reader = Reader(notes_html(markdown))
    assert {tag[0] for tag in reader.tags} <= {"h3", "h4", "p", "a", "code"}
    assert [text_of(reader.root.find(f".//{tag}")) for tag in ("h3", "h4")] == ["One", "Two"]
    assert {each.attrib["href"].partition(":")[0] for each in reader.root.iter("a")} <= {"http", "https"}
    assert all(text in text_of(reader.root) for text in ("<script>alert(1)</script>", "{{ c }}"))


def test_nothing_is_loaded_from_anywhere(toy: Toy) -> None:
    root = toy.read()
    loaded = [
        each for tag in ("img", "script", "link", "iframe", "source", "object", "embed") for each in root.iter(tag)
    ]
    addresses = [each.get("src") or each.get("href") or "data:" for each in loaded]
    assert all(address.startswith("data:") for address in addresses)
    style = text_of(root.find(".//style"))
    assert not re.search(r"@import|@font-face|url\(", style)
    files = {each.attrib["href"] for each in root.iter("a") if not each.attrib["href"].startswith("#")}
    tables = {f"toy/{stem}.{end}" for stem in ("table-1", "table-2", "claims") for end in ("csv", "tex", "md")}
    assert files == tables | {"toy/figure-1.svg", "toy/figure-1.csv", "made.json"}
    (policy,) = (each.attrib["content"] for each in root.iter("meta") if "http-equiv" in each.attrib)
    assert policy.startswith("default-src 'none';")


def test_every_address_in_the_page_leads_somewhere(toy: Toy) -> None:
    toy.states["B", "d AUC"] = "outdated"
    html = toy.html
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    # what holds a $ is a template of the page's script
    wanted = set(re.findall(r'href="#([^"$]*)"', html)) | set(re.findall(r'aria-labelledby="([^"]*)"', html))
    assert wanted - set(ids) == {"lineage-heading"}  # the dialog's, written as it opens


def test_word_vectors_are_none_of_the_data_sets_behind_the_numbers() -> None:
    words = Recipe("data", "glove", {"file": "glove.zip"}, track="czsl", labels={"dataset": "glove"})
    document = {"adapter": "compositional", "archives": {}}
    pairs = Recipe("data", "cgqa", document, track="czsl", labels={"dataset": "cgqa"})
    evaluation = Recipe("evaluations", "chance", {}, {"data": pairs, "words": words}, track="czsl")
    scope = scope_of(published_of({"toy/table-1": ([evaluation], [])}))
    assert scope and (scope["synthetic"], scope["published"], scope["samples"]) == ([], ["cgqa"], [])
