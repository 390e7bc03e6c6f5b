"""The table of bad worlds: what is done to a finished project, what an audit finds, and the word that all say of it.

Audits are made in this process, of copies of what they read.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from recompose.audit import contents
from recompose.audit.findings import Audit
from recompose.commands.audit import audit_reports
from recompose.commands.report import make_page
from recompose.digest import sha256_file
from recompose.files import read_json, write_json
from recompose.papers import declaration
from recompose.papers.declaration import all_papers
from recompose.tables.artifacts import make_artifacts
from recompose.tables.reports import Reports
from recompose.tracks import measuring
from recompose.workspace import Workspace
from tests.audit.invented import correct_artifact, edit_artifact, edit_provenance
from tests.configuration import GONE, edit, parameters
from tests.conftest import Project

Found = tuple[str, str, str]  # state, place, what is said
MADE_FROM_EVALUATIONS = {
    "duplex/table-3": 8,
    "duplex/table-4": 4,
    "msci/table-2": 8,
    "msci/table-3": 4,
    "msci/factors": 2,
    "msci/figure-curves": 1,
}
FROM_DATA = {"duplex/table-1": 11, "duplex/table-12": 20, "duplex/table-13": 10, "msci/table-1": 8}
SHOWN = MADE_FROM_EVALUATIONS | FROM_DATA | {"duplex/table-13": 40}
PAPERS_LOADED = [paper for paper in all_papers() if paper.track == "czsl"]  # whose track the worlds have
SMOKE = "profiles.smoke.override.czsl.datasets"
IMAGES = {"train": 400, "val": 150, "test": 150}  # of the projects that the engines made
# other values in params.yaml
ONE_IMAGE_MORE = {f"{SMOKE}.shapes-pairs.images": IMAGES | {"test": 151}}
DATA_RENAMED = {
    "czsl.datasets.drawn-pairs": parameters()["czsl"]["datasets"]["shapes-pairs"],
    "profiles.smoke.czsl.datasets": ["drawn-pairs"],
    f"{SMOKE}.drawn-pairs.images": IMAGES,
}
READ = ("reports", "results", "params.yaml", "dvc.yaml", "dvc.lock")  # of a project, by an audit


def copy_of(project: Path, target: Path, *more: str) -> Path:
    """What an audit reads of a project; data is another's to read, unless it is asked for."""
    target.mkdir(parents=True)
    for name in (*READ, *more):
        source = project / name
        if source.is_dir():
            shutil.copytree(source, target / name, symlinks=True)
        elif source.exists():
            shutil.copy2(source, target / name)
    if "data" not in more:
        (target / "data").symlink_to(project / "data")
    return target


def audited(root: Path) -> Audit:
    """The audit of a project."""
    return audit_reports(Workspace(root), PAPERS_LOADED)[1]


def findings(found: Audit) -> list[Found]:
    return sorted((each.state, each.place, each.why) for each in found.findings)


def moved(found: Audit, clean: Audit) -> dict[str, dict[str, int]]:
    """How many cells of each artifact are in another state than in the clean world, by that state."""
    counts: dict[str, dict[str, int]] = {}
    for name, states in clean.cells.items():
        for key in states | found.cells[name]:
            now = state.word if (state := found.cells[name].get(key)) else "gone"
            if key not in states or now != states[key].word:
                of = counts.setdefault(name, {})
                of[now] = of.get(now, 0) + 1
    return counts


def all_of(state: str, *parts: dict[str, int]) -> dict[str, dict[str, int]]:
    return {name: {state: count} for part in parts for name, count in part.items()}


def of_kind(root: Path, kind: str) -> list[Path]:
    """The folders of a kind, by seed or world."""
    records = [(read_json(path)["labels"], path.parent) for path in root.glob(f"results/{kind}/*/record.json")]
    return [folder for _, folder in sorted((labels.get("seed", labels.get("world")), at) for labels, at in records)]


def evaluations_of(root: Path) -> list[Path]:
    """The folders of the evaluations, by seed."""
    return of_kind(root, "evaluations")


def indexes_of(root: Path) -> list[Path]:
    """The folders of the data set's indexes, by world: that of each seed's evaluation."""
    return of_kind(root, "data")


def index_of(root: Path) -> Path:
    """The folder of the first world's index: what is told of data alone is told of that one."""
    return indexes_of(root)[0]


def data_of(root: Path) -> Path:
    """The folder of the first world's raw files."""
    return root / "data" / f"shapes-pairs-{index_of(root).name}"


def edit_json(path: Path, edit: Callable[[Any], object]) -> None:
    document = read_json(path)
    edit(document)
    write_json(path, document)


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1))


def correct(record: Path, *names: str) -> None:
    """Make a record agree with files that were changed, as a forger would."""

    def edit(document: dict[str, Any]) -> None:
        for name in names:
            path = record.parent / name
            document["files"][name] = {"sha256": sha256_file(path), "bytes": path.stat().st_size}

    edit_json(record, edit)


def each_record(root: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit the records of everything that is stored."""
    for path in root.glob("results/*/*/record.json"):
        edit_json(path, edit)


def remake_reports(root: Path) -> None:
    """What the last phases do."""
    reports = Reports(Workspace(root))
    make_artifacts(reports, reports.artifacts)
    make_page(reports)


def improve(lineage: dict[str, Any]) -> None:
    """Give chance's accuracy on seen pairs of shapes another value."""
    cell = next(cell for cell in lineage["cells"] if (cell["column"], cell["view"]) == ("shapes-pairs S", "exact"))
    cell.update(text="9.9 ± 1.1", value=9.9, values=[9.9, 9.9])


def key_of(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def zeroed(scores: Path) -> None:
    """Scores of the same size that say nothing."""
    content = scores.read_bytes()
    scores.write_bytes(content[:-1000] + bytes(1000))


def dirty(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a record and the reports as they would be had a source been edited that was never committed."""

    monkeypatch.setattr(contents, "committed_since", lambda recipe: None)
    edit_json(folder / "record.json", lambda record: record["made"].update(dirty=True))
    remake_reports(root)


def again(folder: Path, *, otherwise: bool = False) -> None:
    """A record as that of the same recipe that was made again later."""

    def edit(record: dict[str, Any]) -> None:
        record["made"]["started"] = record["made"]["started"].replace("20", "21", 1)

    if otherwise:
        zeroed(folder / "scores.safetensors")
        correct(folder / "record.json", "scores.safetensors")
    edit_json(folder / "record.json", edit)


def other_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of metrics as if it had been edited."""
    from recompose.tracks import track

    honest = track.fingerprint

    def edited(roots: Any) -> dict[str, str]:
        roots = [*roots]
        return honest(roots) | ({"recompose.tracks.czsl.metrics.czsl": "0" * 64} if measuring.MEASURE in roots else {})

    monkeypatch.setattr(track, "fingerprint", edited)


def other_declaration(root: Path, patch: pytest.MonkeyPatch) -> None:
    """What a paper printed as if it had been corrected since."""
    folder = shutil.copytree(declaration.FOLDER, root / "papers")
    patch.setattr(declaration, "FOLDER", folder)
    replace_once(folder / "msci/reported/table-2.csv", "29.9,25.2", "29.8,25.2")


# the table

PAGE = ("README.md", "metrics.json", "curves.csv", "index.html")  # and what is beside it
TABLE, COLUMN = "msci/table-2", "shapes-pairs S"
REPORTS = "reports/smoke"
CSV, PROVENANCE, MADE = f"{REPORTS}/{TABLE}.csv", f"{REPORTS}/provenance.json", f"{REPORTS}/made.json"
CELL = f"{CSV} · chance · shapes-pairs S · exact"
LINE, REST = "chance,shapes-pairs S,measured,exact,0.8 ± 1.1,0.793651", ",1.12239,2,,\n"
BETTER = "chance,shapes-pairs S,measured,exact,9.9 ± 1.1,9.9"
Patch = pytest.MonkeyPatch
Spoil = Callable[[Path, Patch], object]
Moved = dict[str, dict[str, int]]


@dataclass(frozen=True)
class World:
    """A way to spoil a finished project, and what follows from it."""

    name: str
    spoil: Spoil
    word: str  # of a number of chance in a table of MSCI
    found: tuple[tuple[str, str], ...] = ()  # state and place; ``{first}`` is an evaluation, ``{index}`` its data
    moved: Moved = field(default_factory=dict)  # cells in another state than before, by artifact
    recomputed: int = 2  # evaluations


def first_of(root: Path) -> Path:
    return evaluations_of(root)[0]


def scores_of(root: Path) -> Path:
    return first_of(root) / "scores.safetensors"


def cut(root: Path, *, name: str, number: int = 0) -> None:
    """Cut a file of an index."""
    path = indexes_of(root)[number] / name
    os.truncate(path, path.stat().st_size - 40)


def improve_cell(root: Path) -> None:
    edit_artifact(root / REPORTS, TABLE, improve)


def edit_csv(root: Path, old: str = LINE, new: str = BETTER, *, cell: bool = False, digest: bool = True) -> None:
    """Edit a table, its cell in provenance or the digest there, too."""
    replace_once(root / CSV, old, new)
    if cell:
        improve_cell(root)
    if digest:
        correct_artifact(root / REPORTS, TABLE, "table-2.csv")


def empty_csv(root: Path, lines: int) -> None:
    text = (root / CSV).read_text().splitlines(keepends=True)[:lines]
    (root / CSV).write_text("".join(text))
    correct_artifact(root / REPORTS, TABLE, "table-2.csv")


def edit_reported(root: Path) -> None:
    edit_csv(root, REPORTED, REPORTED.replace("29.9", "39.9"), digest=False)


def edit_other(values: dict[str, Any], root: Path) -> None:
    """Edit what provenance has of another table."""
    edit_artifact(root / REPORTS, OTHER, lambda entry: edit(entry, values))


def edit_recipe(root: Path, **parts: Any) -> None:
    """Edit the recipe of an evaluation in provenance."""
    key = key_of(first_of(root))
    edit_provenance(root / REPORTS, lambda document: document["recipes"][key].update(parts))


def edit_made(root: Path, **parts: Any) -> None:
    """Edit what the reports hold of the build of an evaluation."""
    edit_json(root / MADE, lambda made: made["results"][key_of(first_of(root))].update(parts))


def forge_scores(root: Path) -> None:
    """Give an evaluation the scores of another one, and a record that agrees."""
    first, second = evaluations_of(root)
    shutil.copy(second / "scores.safetensors", first)
    correct(first / "record.json", "scores.safetensors")


def swap_scores(root: Path) -> None:
    first, second = (folder / "scores.safetensors" for folder in evaluations_of(root))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


def forge_index(root: Path, *, anew: bool = False) -> None:
    index = index_of(root)
    edit_json(index / "statistics.json", lambda counts: counts.update(states=99))
    correct(index / "record.json", "statistics.json")
    if anew:
        edit_json(index / "record.json", lambda record: record["made"].update(started="2100-01-01T00:00:00+00:00"))


def rebuild_record(root: Path, **made: Any) -> None:
    """Make the reports again with another account of a build."""
    edit_json(first_of(root) / "record.json", lambda record: record["made"].update(made))
    remake_reports(root)


def commit_since(root: Path, patch: Patch) -> None:
    patch.setattr(contents, "committed_since", lambda recipe: "abc1234")
    rebuild_record(root, dirty=True)


def deny_dirty(root: Path, patch: Patch, *, record: bool) -> None:
    """Make a result from a dirty tree, and deny it in its record or in the reports."""
    dirty(root, first_of(root), patch)
    if record:
        edit_json(first_of(root) / "record.json", lambda record: record["made"].update(dirty=False))
    else:
        edit_made(root, dirty=False)


def invent_cell(root: Path) -> None:
    """Add a cell to provenance that its table does not show."""

    def edit(entry: Any) -> None:
        entry["cells"].append({**entry["cells"][0], "row": "MSCI"})

    edit_artifact(root / REPORTS, TABLE, edit)


def lose_entry(root: Path) -> None:
    edit_provenance(root / REPORTS, lambda document: document["artifacts"].pop(OTHER))


def forge_metrics(root: Path, *, consistent: bool) -> None:
    """Forge stored metrics, with their records or without."""
    for path in root.glob("results/metrics/*/metrics.json"):
        edit_json(path, lambda metrics: metrics.update({"test/closed/dense/auc": 0.5}))
        if consistent:
            correct(path.parent / "record.json", path.name)


def forge_artifact(root: Path) -> None:
    """Forge a table in the store."""
    (path,) = root.glob(f"results/artifacts/*/reports/{TABLE}.csv")
    path.write_text(path.read_text().replace(LINE, BETTER))


def edit_page(root: Path, *, name: str, digest: bool) -> None:
    path = root / REPORTS / name
    path.write_text(path.read_text().replace("chance", "magic"))
    if digest:
        digest = sha256_file(root / REPORTS / name)
        edit_provenance(root / REPORTS, lambda document: document["files"].update({name: digest}))


def remove(root: Path, *, name: str) -> None:
    (root / REPORTS / name).unlink()


def append(root: Path, *, name: str) -> None:
    path = root / REPORTS / name
    path.write_bytes(path.read_bytes() + b" ")


CHANGED, OUTDATED = all_of("changed", MADE_FROM_EVALUATIONS), all_of("outdated", MADE_FROM_EVALUATIONS)
# numbers of the data, too; what nobody asks for stands in the same table
ALL_CHANGED = all_of("changed", SHOWN) | {"duplex/table-13": {"changed": 10, "unchecked": 30}}
FORGED_INDEX = all_of("changed", SHOWN) | {"duplex/table-13": {"changed": 10, "outdated": 30}}
ONE, EVERY = {TABLE: {"changed": 1}}, {TABLE: {"changed": 8}}
EVERYTHING = all_of("outdated", SHOWN)  # also what was not run, in tables that are
ASKED = EVERYTHING | {"duplex/table-13": {"outdated": 10}}
OTHER, UNREAD = "msci/table-3", all_of("gone", SHOWN)
UNKNOWN = {"keys": ["evaluations/000000000000", "evaluations/000000000001"]}
IN_PROVENANCE = f"{PROVENANCE}: {TABLE} · chance · {COLUMN} · exact"
WITH_CLIP = {"profiles.smoke.czsl.methods": ["chance", "clip"]}
MARKDOWN, PICTURE, DRAWN = f"{TABLE}.md", "msci/figure-curves.png", {"msci/figure-curves": {"changed": 1}}
OF_PAPER = f"{CSV} · SCEN · mit-states S"
REPORTED, FORGED = "SCEN,mit-states S,reported,,29.9", {"scores.safetensors": {"sha256": "0" * 64, "bytes": 1}}
SEEDS = "profiles.smoke.czsl.seeds"


def at(state: str, *places: str) -> tuple[tuple[str, str], ...]:
    """Findings of one state."""
    return tuple((state, place) for place in places)


SCORES = [f"results/{{{which}}}/scores.safetensors" for which in ("first", "second")]
SCORED, BOTH = at("changed", SCORES[0]), at("changed", *SCORES)
SAMPLES, CONTENT = (at("changed", f"results/{{index}}/{name}") for name in ("samples.csv", "content.json"))
PAIRS, CURVES_GONE = at("changed", "results/{other}/pairs.json"), at("missing", f"{REPORTS}/curves.csv")
INVENTED, LOST = (
    at("changed", f"{PROVENANCE}: {TABLE} · MSCI · {COLUMN} · exact"),
    at("missing", f"{PROVENANCE}: {OTHER}"),
)
GONE_FILE, ABSENT = at("missing", f"{REPORTS}/{MARKDOWN}"), all_of("unchecked", MADE_FROM_EVALUATIONS)
OF_PAGE = at("changed", f"{REPORTS}/index.html")
VALUE, UNREADABLE, BROKEN = at("changed", CELL), at("changed", CSV), at("changed", PROVENANCE)
EDITED, PICTURED = at("changed", "results/{first}/record.json"), at("changed", f"{REPORTS}/{PICTURE}")


def world(
    name: str, spoil: Callable[..., object], word: str, found: Any = (), to: Any = None, recomputed: int = 2
) -> Any:
    """A row of the table; what takes a patch changes this process, too."""
    spoiling = spoil if "patch" in signature(spoil).parameters else lambda root, patch: spoil(root)
    return pytest.param(World(name, spoiling, word, found, to or {}, recomputed), id=name)


def page_worlds(title: str, *names: str, digest: bool) -> list[Any]:
    """The page or a file beside it was edited."""
    edits = {name: partial(edit_page, name=name, digest=digest) for name in names}
    found = {name: at("changed", f"{REPORTS}/{name}") for name in names}
    return [world(f"{name} {title}", edit, "current", found[name]) for name, edit in edits.items()]


WORLDS = [
    world("nothing", lambda r: None, "current"),
    # what is stored
    world("scores of zeros", lambda r: zeroed(scores_of(r)), "changed", SCORED, CHANGED, 1),
    world("scores swapped", swap_scores, "changed", BOTH, CHANGED, 0),
    world("scores and record forged", forge_scores, "changed", None, CHANGED, 1),
    world("scores gone", lambda r: scores_of(r).unlink(), "changed", SCORED, CHANGED, 1),
    world("metrics forged", partial(forge_metrics, consistent=False), "changed", None, CHANGED),
    world("metrics and records forged", partial(forge_metrics, consistent=True), "outdated", None, OUTDATED),
    world("table in the store forged", forge_artifact, "current", None),
    world("made again, equal", lambda r: again(first_of(r)), "current"),
    world("made again, otherwise", lambda r: again(first_of(r), otherwise=True), "outdated", None, OUTDATED, 1),
    world("samples cut", partial(cut, name="samples.csv"), "changed", SAMPLES, ALL_CHANGED, 1),
    world("content of data cut", partial(cut, name="content.json"), "changed", CONTENT, ALL_CHANGED, 1),
    world("pairs of the other data cut", partial(cut, name="pairs.json", number=1), "changed", PAIRS, CHANGED, 1),
    world("index and record forged", forge_index, "changed", None, FORGED_INDEX, 1),
    world("indexed anew", partial(forge_index, anew=True), "outdated", None, all_of("outdated", SHOWN), 1),
    # how it was made
    world("uncommitted", lambda r, patch: dirty(r, first_of(r), patch), "current"),
    world("committed since", commit_since, "current"),
    world("uncommitted, denied in the record", partial(deny_dirty, record=True), "changed", EDITED, CHANGED, 1),
    world("uncommitted, denied in the reports", partial(deny_dirty, record=False), "changed", EDITED, CHANGED, 1),
    world("another device", lambda r: rebuild_record(r, device="1 x GPU"), "current"),
    world("other packages", lambda r: rebuild_record(r, packages={"torch": "1.0"}), "current"),
    world(
        "a seed gone",
        lambda r: shutil.rmtree(first_of(r)),
        "unchecked",
        (),
        all_of("unchecked", MADE_FROM_EVALUATIONS),
        1,
    ),
    # what is shown
    world("cell edited", lambda r: edit_csv(r, digest=False), "changed", VALUE, EVERY),
    world("cell edited, digest agrees", edit_csv, "changed", UNREADABLE, EVERY),
    world(
        "value edited",
        lambda r: edit_csv(r, LINE, LINE.replace("0.793651", "9.9")),
        "changed",
        at("changed", CSV),
        EVERY,
    ),
    world("cell gone", lambda r: edit_csv(r, f"{LINE}{REST}", ""), "changed", at("changed", CSV), EVERY),
    world("cell edited everywhere", lambda r: edit_csv(r, cell=True), "changed", at("changed", IN_PROVENANCE), ONE),
    world("row twice", lambda r: edit_csv(r, LINE, f"{BETTER}{REST}{LINE}"), "changed", at("changed", CSV), EVERY),
    world("table empty", lambda r: empty_csv(r, 0), "changed", UNREADABLE, EVERY),
    world("table with its header alone", lambda r: empty_csv(r, 1), "changed", UNREADABLE, EVERY),
    world("cell in provenance edited", improve_cell, "changed", at("changed", IN_PROVENANCE), ONE),
    world(
        "cell in provenance alone",
        invent_cell,
        "current",
        at("changed", f"{PROVENANCE}: {TABLE} · MSCI · {COLUMN} · exact"),
        ONE,
    ),
    world(
        "table not in provenance", lose_entry, "current", at("missing", f"{PROVENANCE}: {OTHER}"), {OTHER: {"gone": 4}}
    ),
    world("cell without a text", partial(edit_other, {"cells.0.text": GONE}), "", BROKEN, UNREAD, 0),
    world("table without a recipe", partial(edit_other, {"recipe": "artifacts/000000000000"}), "", BROKEN, UNREAD, 0),
    world("cell of unknown evaluations", partial(edit_other, UNKNOWN), "", BROKEN, UNREAD, 0),
    world("settings of a recipe", partial(edit_recipe, document={}), "", BROKEN, UNREAD, 0),
    world("needs of a recipe", partial(edit_recipe, needs={}), "", BROKEN, UNREAD, 0),
    world(
        "name of a recipe", lambda r: edit_recipe(r, name="magic"), "current", at("changed", f"{REPORTS}/index.html")
    ),
    world("printed value edited", edit_reported, "changed", at("changed", OF_PAPER), EVERY),
    world("other file", partial(append, name=MARKDOWN), "changed", at("changed", f"{REPORTS}/{MARKDOWN}"), EVERY),
    world(
        "file gone",
        partial(remove, name=MARKDOWN),
        "missing",
        at("missing", f"{REPORTS}/{MARKDOWN}"),
        {TABLE: {"missing": 8}},
    ),
    world("picture edited", partial(append, name=PICTURE), "current", PICTURED, DRAWN),
    *page_worlds("edited", "README.md", "metrics.json", "index.html", digest=False),
    *page_worlds("edited, digest agrees", *PAGE, digest=True),
    world("file beside the page gone", partial(remove, name="curves.csv"), "current", CURVES_GONE),
    # what the reports hold of builds
    world("inputs in made.json", lambda r: edit_made(r, inputs={"data": "0" * 64}), "changed", EDITED, CHANGED, 1),
    world("files in made.json", lambda r: edit_made(r, files=FORGED), "changed", EDITED, CHANGED, 1),
    world("host in made.json", lambda r: edit_made(r, host="elsewhere"), "changed", EDITED, CHANGED, 1),
    world("made.json empty", lambda r: (r / MADE).write_text(""), "current", at("changed", MADE)),
    # what is asked for
    world("an image more", lambda r: Project(r).set(ONE_IMAGE_MORE), "outdated", None, ASKED),
    world("data renamed", lambda r: Project(r).set(DATA_RENAMED), "outdated", None, ASKED),
    world("a seed less", lambda r: Project(r).set({SEEDS: [0]}), "outdated", None, OUTDATED),
    world("a seed more", lambda r: Project(r).set({SEEDS: [0, 1, 2]}), "outdated", None, OUTDATED),
    world("unused parameter", lambda r: Project(r).set({"czsl.feasibility.prompt": "a {name}"}), "current"),
    world("a method more", lambda r: Project(r).set(WITH_CLIP), "current", None),
    world("other code of metrics", lambda r, patch: other_measures(patch), "outdated", None, OUTDATED),
    world("other declaration", other_declaration, "outdated", None, all_of("outdated", {TABLE: 8})),
]
