"""The table of bad worlds: what is done to a finished project, what an audit finds, and the word that all say of it.

Audits are made in this process, of copies of what they read.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from recompose.audit.audit import audit
from recompose.audit.findings import Audit
from recompose.commands.audit import audit_reports
from recompose.digest import sha256_file
from recompose.files import read_json, write_json
from recompose.papers import declaration
from recompose.papers.declaration import all_papers
from recompose.site.build import page_of
from recompose.tables import caveats
from recompose.tables.artifacts import make_artifacts
from recompose.tables.index import builds_of, write_index
from recompose.tables.published import PublishedLineage
from recompose.tables.stored_results import StoredResults
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
    work = Workspace(root)
    return audit_reports(work, PAPERS_LOADED, PublishedLineage.read(work, PAPERS_LOADED))


def findings(found: Audit) -> list[Found]:
    return sorted((each.state, each.place, each.why) for each in found.findings)


def moved(found: Audit, clean: Audit) -> dict[str, dict[str, int]]:
    """How many cells of each artifact are in another state than in the clean world, by that state."""
    counts: dict[str, dict[str, int]] = {}
    for name, states in clean.states.items():
        for key in states | found.states[name]:
            now = found.states[name].get(key, "gone")
            if now != states.get(key):
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
    """Make a record, or a lineage, agree with files that were changed, as a forger would."""

    def edit(document: dict[str, Any]) -> None:
        for name in names:
            path = record.parent / name
            digest = sha256_file(path)
            document["files"][name] = {"sha256": digest, "bytes": path.stat().st_size} if "made" in document else digest

    edit_json(record, edit)


def each_record(root: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit the records of everything that is stored."""
    for path in root.glob("results/*/*/record.json"):
        edit_json(path, edit)


def remake_reports(root: Path, work: Workspace | None = None) -> None:
    """What the last phases do, of the artifacts that show anything of chance."""
    work = work or Workspace(root)
    for paper in PAPERS_LOADED:
        names = [name for name in paper.artifacts if f"{paper.name}/{name}" in SHOWN]
        make_artifacts(StoredResults(work), paper, names)
    remake_index(work)


def remake_index(work: Workspace) -> None:
    """What the last phase does."""
    published = PublishedLineage.read(work, PAPERS_LOADED)
    shown = replace(published, made=builds_of(work, published))
    found = audit(work, PAPERS_LOADED, shown, quick=True)
    write_index(StoredResults(work), shown, page_of(work, shown, found))


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

    monkeypatch.setattr(caveats, "_find_commit", lambda made_by, code: None)
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
    """The code of metrics as if it had been edited, so that it gives other numbers."""
    from recompose.audit import trust
    from recompose.tracks import TRACKS

    track = type(TRACKS["czsl"])
    honest, metric_code = track.all_metrics, trust.metric_code
    monkeypatch.setattr(
        track, "all_metrics", lambda *given: {name: value / 2 for name, value in honest(*given).items()}
    )
    monkeypatch.setattr(
        trust, "metric_code", lambda *of: metric_code(*of) | {"recompose.tracks.czsl.metrics.czsl": "0" * 64}
    )


def other_declaration(root: Path, patch: pytest.MonkeyPatch) -> None:
    """What a paper printed as if it had been corrected since."""
    folder = shutil.copytree(declaration.FOLDER, root / "papers")
    patch.setattr(declaration, "FOLDER", folder)
    replace_once(folder / "msci/reported/table-2.csv", "29.9,25.2", "29.8,25.2")


# the table

PAGE = ("README.md", "metrics.json", "curves.csv", "index.html")  # and what is beside it
TABLE, COLUMN = "msci/table-2", "shapes-pairs S"
REPORTS = "reports/smoke"
CSV, LINEAGE, MADE = f"{REPORTS}/{TABLE}.csv", f"{REPORTS}/provenance.json: {TABLE}", f"{REPORTS}/made.json"
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
    found: tuple[tuple[str, str], ...] = ()  # code and place; ``{first}`` is an evaluation, ``{index}`` its data
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


def improve_lineage(root: Path) -> None:
    edit_artifact(root / REPORTS, TABLE, improve)


def edit_csv(root: Path, old: str = LINE, new: str = BETTER, *, lineage: bool = False, digest: bool = True) -> None:
    """Edit a table, its lineage or the digest there, too."""
    replace_once(root / CSV, old, new)
    if lineage:
        improve_lineage(root)
    if digest:
        correct_artifact(root / REPORTS, TABLE, "table-2.csv")


def empty_csv(root: Path, lines: int) -> None:
    text = (root / CSV).read_text().splitlines(keepends=True)[:lines]
    (root / CSV).write_text("".join(text))
    correct_artifact(root / REPORTS, TABLE, "table-2.csv")


def edit_reported(root: Path) -> None:
    edit_csv(root, REPORTED, REPORTED.replace("29.9", "39.9"), digest=False)


def edit_other(values: dict[str, Any], root: Path) -> None:
    """Edit the lineage of another table."""
    edit_artifact(root / REPORTS, OTHER, lambda lineage: edit(lineage, values))


def edit_lineage(root: Path, **parts: Any) -> None:
    """Edit the record of an evaluation in the lineage of a table."""
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
    patch.setattr(caveats, "_find_commit", lambda made_by, code: "abc1234")
    rebuild_record(root, dirty=True)


def deny_dirty(root: Path, patch: Patch, *, record: bool) -> None:
    """Make a result from a dirty tree, and deny it in its record or in the reports."""
    dirty(root, first_of(root), patch)
    if record:
        edit_json(first_of(root) / "record.json", lambda record: record["made"].update(dirty=False))
    else:
        edit_made(root, dirty=False)


def invent_cell(root: Path) -> None:
    """Add a cell to a lineage that its table does not show."""

    def edit(lineage: Any) -> None:
        cell = {name: value for name, value in lineage["cells"][0].items() if name not in ("made_from", "names")}
        lineage["cells"].append({**cell, "row": "MSCI"})

    edit_artifact(root / REPORTS, TABLE, edit)


def lose_lineage(root: Path) -> None:
    edit_provenance(root / REPORTS, lambda document: document["artifacts"].pop(OTHER))


def lose_seed(root: Path) -> None:
    shutil.rmtree(first_of(root))
    remake_reports(root)


def forge_metrics(root: Path) -> None:
    """They are kept beside the store for speed alone."""
    for path in root.glob("results/metrics/*/*.json"):
        edit_json(path, lambda kept: kept["metrics"].update({"test/closed/dense/auc": 0.5}))


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


TAMPERED, STALE = all_of("tampered", MADE_FROM_EVALUATIONS), all_of("stale", MADE_FROM_EVALUATIONS)
# numbers of the data, too; what nobody asks for stands in the same table
ALL_TAMPERED = all_of("tampered", SHOWN) | {"duplex/table-13": {"tampered": 10, "unchecked": 30}}
ALL_STALE = all_of("stale", SHOWN) | {"duplex/table-13": {"stale": 10, "unchecked": 30}}
ONE, EVERY = {TABLE: {"tampered": 1}}, {TABLE: {"tampered": 8}}
EVERYTHING = all_of("stale", MADE_FROM_EVALUATIONS, FROM_DATA)
OTHER, UNREAD = "msci/table-3", {"msci/table-3": {"gone": 4}}
OTHER_LINEAGE, UNKNOWN = f"{REPORTS}/provenance.json: {OTHER}", {"cells.0.made_from": ["evaluations/000000000000"]}
INVENTED = ("edited-value", f"{LINEAGE} · MSCI · {COLUMN} · exact"), ("other-recipe", f"{TABLE} · MSCI (1 cell)")
IN_LINEAGE = f"{LINEAGE} · chance · shapes-pairs S · exact"
SHOW_CLIP = [*MADE_FROM_EVALUATIONS, "msci/one-scale"]
WITH_CLIP = {"profiles.smoke.czsl.methods": ["chance", "clip"]}
MARKDOWN, PICTURE, DRAWN = f"{TABLE}.md", "msci/figure-curves.png", {"msci/figure-curves": {"tampered": 1}}
OF_PAPER = f"{CSV} · SCEN · mit-states S"
REPORTED, FORGED = "SCEN,mit-states S,reported,,29.9", {"scores.safetensors": {"sha256": "0" * 64, "bytes": 1}}
SEEDS = "profiles.smoke.czsl.seeds"


def at(code: str, *places: str) -> tuple[tuple[str, str], ...]:
    """Findings of one code."""
    return tuple((code, place) for place in places)


SCORES = [f"results/{{{which}}}/scores.safetensors" for which in ("first", "second")]
CHANGED, BOTH = at("changed-file", SCORES[0]), at("changed-file", *SCORES)
SAMPLES, CONTENT = (at("changed-file", f"results/{{index}}/{name}") for name in ("samples.csv", "content.json"))
PAIRS, CURVES_GONE = at("changed-file", "results/{other}/pairs.json"), at("missing-file", f"{REPORTS}/curves.csv")
VALUE, UNREADABLE, BROKEN = at("edited-value", CELL), at("unreadable", CSV), at("unreadable", OTHER_LINEAGE)
RENAMED = at("renamed", *(f"{REPORTS}/provenance.json: {name}" for name in MADE_FROM_EVALUATIONS))
EDITED = at("edited-record", "results/{first}/record.json")
REBUILT, REBUILT_INDEX = at("rebuilt", "results/{first}"), at("rebuilt", "results/{index}", "results/{first}")
FORGED_INDEX = (*at("edited-record", "results/{index}/record.json"), *REBUILT)
PICTURED = at("changed-file", f"{REPORTS}/{PICTURE}")
DENIED = (*EDITED, *at("uncommitted", *MADE_FROM_EVALUATIONS))


def everywhere(state: str) -> tuple[tuple[tuple[str, str], ...], Moved]:
    """A finding of each artifact that is made from evaluations, and all of their cells in that state."""
    return at(state, *MADE_FROM_EVALUATIONS), all_of(state, MADE_FROM_EVALUATIONS)


def world(
    name: str, spoil: Callable[..., object], word: str, found: Any = (), to: Any = None, recomputed: int = 2
) -> Any:
    """A row of the table; what takes a patch changes this process, too."""
    spoiling = spoil if "patch" in signature(spoil).parameters else lambda root, patch: spoil(root)
    return pytest.param(World(name, spoiling, word, found, to or {}, recomputed), id=name)


def page_worlds(title: str, code: str, *names: str, digest: bool) -> list[Any]:
    """The page or a file beside it was edited."""
    edits = {name: partial(edit_page, name=name, digest=digest) for name in names}
    return [world(f"{name} {title}", edit, "current", at(code, f"{REPORTS}/{name}")) for name, edit in edits.items()]


WORLDS = [
    world("nothing", lambda r: None, "current"),
    # what is stored
    world("scores of zeros", lambda r: zeroed(scores_of(r)), "tampered", CHANGED, TAMPERED, 1),
    world("scores swapped", swap_scores, "tampered", BOTH, TAMPERED, 0),
    world("scores and record forged", forge_scores, "tampered", EDITED, TAMPERED, 1),
    world("scores gone", lambda r: scores_of(r).unlink(), "tampered", CHANGED, TAMPERED, 1),
    world("metrics beside forged", forge_metrics, "current"),
    world("made again, equal", lambda r: again(first_of(r)), "current"),
    world("made again, otherwise", lambda r: again(first_of(r), otherwise=True), "stale", REBUILT, STALE, 1),
    world("samples cut", partial(cut, name="samples.csv"), "tampered", SAMPLES, ALL_TAMPERED, 1),
    world("content of data cut", partial(cut, name="content.json"), "tampered", CONTENT, ALL_TAMPERED, 1),
    world("pairs of the other data cut", partial(cut, name="pairs.json", number=1), "tampered", PAIRS, TAMPERED, 1),
    world("index and record forged", forge_index, "tampered", FORGED_INDEX, ALL_TAMPERED, 1),
    world("indexed anew", lambda r: forge_index(r, anew=True), "stale", REBUILT_INDEX, ALL_STALE, 1),
    # how it was made
    world("uncommitted", lambda r, patch: dirty(r, first_of(r), patch), "uncommitted", *everywhere("uncommitted")),
    world("committed since", commit_since, "current"),
    world("uncommitted, denied in the record", partial(deny_dirty, record=True), "tampered", DENIED, TAMPERED, 1),
    world("uncommitted, denied in the reports", partial(deny_dirty, record=False), "tampered", EDITED, TAMPERED, 1),
    world("another device", lambda r: rebuild_record(r, device="1 x GPU"), "current"),
    world("other packages", lambda r: rebuild_record(r, packages={"torch": "1.0"}), "mixed", *everywhere("mixed")),
    world("a seed gone", lose_seed, "incomplete", *everywhere("incomplete"), 1),
    # what is shown
    world("cell edited", lambda r: edit_csv(r, digest=False), "tampered", VALUE, EVERY),
    world("cell edited, digest agrees", edit_csv, "tampered", VALUE, ONE),
    world("value edited", lambda r: edit_csv(r, LINE, LINE.replace("0.793651", "9.9")), "tampered", VALUE, ONE),
    world("cell gone", lambda r: edit_csv(r, f"{LINE}{REST}", ""), "tampered", VALUE, ONE),
    world("cell and lineage edited", lambda r: edit_csv(r, lineage=True), "tampered", VALUE, ONE),
    world("row twice", lambda r: edit_csv(r, LINE, f"{BETTER}{REST}{LINE}"), "current", at("other-text", CSV)),
    world("table empty", lambda r: empty_csv(r, 0), "tampered", UNREADABLE, EVERY),
    world("table with its header alone", lambda r: empty_csv(r, 1), "tampered", UNREADABLE, EVERY),
    world("lineage edited", improve_lineage, "tampered", at("edited-value", IN_LINEAGE), ONE),
    world("cell in a lineage alone", invent_cell, "current", INVENTED, ONE),
    world("lineage gone", lose_lineage, "current", at("missing-file", OTHER_LINEAGE), UNREAD),
    world("lineage without a text", partial(edit_other, {"cells.0.text": GONE}), "current", BROKEN, UNREAD),
    world("lineage without code", partial(edit_other, {"metric_code": "0" * 12}), "current", BROKEN, UNREAD),
    world("lineage of unknown evaluations", partial(edit_other, UNKNOWN), "current", BROKEN, UNREAD),
    world("lineage without a plan", partial(edit_other, {"asked": []}), "current", BROKEN, UNREAD),
    world("name in a lineage", lambda r: edit_lineage(r, name="magic"), "stale", RENAMED, STALE),
    world("printed value edited", edit_reported, "tampered", at("edited-value", OF_PAPER), EVERY),
    world("other file", partial(append, name=MARKDOWN), "tampered", at("changed-file", f"{REPORTS}/{MARKDOWN}"), EVERY),
    world("file gone", partial(remove, name=MARKDOWN), "tampered", at("missing-file", f"{REPORTS}/{MARKDOWN}"), EVERY),
    world("picture edited", partial(append, name=PICTURE), "current", PICTURED, DRAWN),
    *page_worlds("edited", "changed-file", "README.md", "metrics.json", "index.html", digest=False),
    *page_worlds("edited, digest agrees", "other-text", *PAGE, digest=True),
    world("file beside the page gone", partial(remove, name="curves.csv"), "current", CURVES_GONE),
    # what the reports hold of builds
    world("inputs in made.json", lambda r: edit_made(r, inputs={"data": "0" * 64}), "tampered", EDITED, TAMPERED, 1),
    world("files in made.json", lambda r: edit_made(r, files=FORGED), "tampered", EDITED, TAMPERED, 1),
    world("host in made.json", lambda r: edit_made(r, host="elsewhere"), "tampered", EDITED, TAMPERED, 1),
    world("made.json empty", lambda r: (r / MADE).write_text(""), "current", at("unreadable", MADE)),
    # what is asked for
    world("an image more", lambda r: Project(r).set(ONE_IMAGE_MORE), "stale", None, EVERYTHING),
    world("data renamed", lambda r: Project(r).set(DATA_RENAMED), "stale", None, EVERYTHING),
    world("a seed less", lambda r: Project(r).set({SEEDS: [0]}), "stale", None, STALE),
    world("a seed more", lambda r: Project(r).set({SEEDS: [0, 1, 2]}), "stale", None, STALE),
    world("unused parameter", lambda r: Project(r).set({"czsl.feasibility.prompt": "a {name}"}), "current"),
    world("a method more", lambda r: Project(r).set(WITH_CLIP), "current", at("other-recipe", *SHOW_CLIP)),
    world("other code of metrics", lambda r, patch: other_measures(patch), "stale", None, ALL_STALE),
    world("other declaration", other_declaration, "current", at("other-text", OF_PAPER)),
]
