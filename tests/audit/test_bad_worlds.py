"""The table of bad worlds: what is spoiled in a finished project, what the audit finds, and the word that all say.

The audit, the page and ``trace`` have to say the same word of a number, for the same reasons.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from recompose import fingerprint as fingerprints
from recompose.audit.audit import audit_artifacts
from recompose.audit.findings import CODES, STATES, Audit
from recompose.commands.status import store_item
from recompose.commands.trace import Artifact, TraceResult, trace
from recompose.site.document import Site
from recompose.tables import caveats
from recompose.tables.caveats import committed_since
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace
from tests.audit.worlds import (
    DATA_RENAMED,
    FROM_DATA,
    MADE_FROM_EVALUATIONS,
    ONE_IMAGE_MORE,
    PAPERS_LOADED,
    SHOWN,
    again,
    all_of,
    audited,
    correct,
    dirty,
    edit_json,
    evaluations_of,
    improve,
    index_of,
    indexes_of,
    key_of,
    moved,
    other_measures,
    remake_reports,
    replace_once,
    zeroed,
)
from tests.conftest import Project, environment

PAGE = ("README.md", "metrics.json", "curves.csv", "index.html")  # and what is beside it
TABLE, ROW, COLUMN, VIEW = "msci/table-2", "chance", "shapes-pairs S", "exact"
REPORTS = "reports/smoke"
CSV, LINEAGE, MADE = f"{REPORTS}/{TABLE}.csv", f"{REPORTS}/{TABLE}.lineage.json", f"{REPORTS}/made.json"
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


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 40)


def edit_csv(root: Path, old: str = LINE, new: str = BETTER, *, lineage: bool = False, digest: bool = True) -> None:
    """Edit a table, its lineage or the digest there, too."""
    replace_once(root / CSV, old, new)
    if lineage:
        edit_json(root / LINEAGE, improve)
    if digest:
        correct(root / LINEAGE, "table-2.csv")


def empty_csv(root: Path, lines: int) -> None:
    text = (root / CSV).read_text().splitlines(keepends=True)[:lines]
    (root / CSV).write_text("".join(text))
    correct(root / LINEAGE, "table-2.csv")


def edit_lineage(root: Path, **parts: Any) -> None:
    """Edit the record of an evaluation in the lineage of a table."""
    edit_json(root / LINEAGE, lambda lineage: lineage["records"][key_of(first_of(root))].update(parts))


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
    patch.setattr(caveats, "_find_commit", lambda code: "abc1234")
    rebuild_record(root, dirty=True)


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
        correct(root / REPORTS / "index.json", name)


def append(root: Path, name: str) -> None:
    path = root / REPORTS / name
    path.write_bytes(path.read_bytes() + b" ")


TAMPERED, STALE = all_of("tampered", MADE_FROM_EVALUATIONS), all_of("stale", MADE_FROM_EVALUATIONS)
# numbers of the data, too; what nobody asks for stands in the same table
ALL_TAMPERED = all_of("tampered", SHOWN) | {"duplex/table-13": {"tampered": 10, "unchecked": 30}}
ALL_STALE = all_of("stale", SHOWN) | {"duplex/table-13": {"stale": 10, "unchecked": 30}}
ONE, EVERY = {TABLE: {"tampered": 1}}, {TABLE: {"tampered": 8}}
EVERYTHING = all_of("stale", MADE_FROM_EVALUATIONS, FROM_DATA)
VALUE, OTHER_RECORD = (("edited-value", CELL),), (("edited-record", LINEAGE),)
IN_LINEAGE = f"{LINEAGE} · chance · shapes-pairs S · exact"
EDITED, UNREADABLE = (("edited-record", "results/{first}/record.json"),), (("unreadable", CSV),)
REBUILT_INDEX = (("rebuilt", "results/{index}"), ("rebuilt", "results/{first}"))
WITH_CLIP = [*MADE_FROM_EVALUATIONS, "msci/one-scale"]
REPORTED, FORGED = "SCEN,mit-states S,reported,,29.9", {"scores.safetensors": {"sha256": "0" * 64, "bytes": 1}}
SEEDS = "profiles.smoke.czsl.seeds"


def changed(*places: str) -> tuple[tuple[str, str], ...]:
    return tuple(("changed-file", place) for place in places)


CHANGED = changed("results/{first}/scores.safetensors")


def everywhere(state: str) -> tuple[tuple[tuple[str, str], ...], Moved]:
    """A finding of each artifact that is made from evaluations, and all of their cells in that state."""
    return tuple((state, name) for name in MADE_FROM_EVALUATIONS), all_of(state, MADE_FROM_EVALUATIONS)


def world(
    name: str, spoil: Callable[..., object], word: str, found: Any = (), to: Any = None, recomputed: int = 2
) -> Any:
    """A row of the table; what takes a patch changes this process, too."""
    spoiling = spoil if "patch" in signature(spoil).parameters else lambda root, patch: spoil(root)
    return pytest.param(World(name, spoiling, word, found, to or {}, recomputed), id=name)


def page_worlds(title: str, code: str, *names: str, digest: bool) -> list[Any]:
    """The page or a file beside it was edited."""
    return [
        world(
            f"{name} {title}", partial(edit_page, name=name, digest=digest), "current", ((code, f"{REPORTS}/{name}"),)
        )
        for name in names
    ]


WORLDS = [
    world("nothing", lambda r: None, "current"),
    # what is stored
    world("scores of zeros", lambda r: zeroed(scores_of(r)), "tampered", CHANGED, TAMPERED, 1),
    world(
        "scores swapped",
        swap_scores,
        "tampered",
        changed(*(f"results/{{{each}}}/scores.safetensors" for each in ("first", "second"))),
        TAMPERED,
        0,
    ),
    world("scores and record forged", forge_scores, "tampered", EDITED, TAMPERED, 1),
    world("scores gone", lambda r: scores_of(r).unlink(), "tampered", CHANGED, TAMPERED, 1),
    world("metrics beside forged", forge_metrics, "current"),
    world("made again, equal", lambda r: again(first_of(r)), "current"),
    world(
        "made again, otherwise",
        lambda r: again(first_of(r), otherwise=True),
        "stale",
        (("rebuilt", "results/{first}"),),
        STALE,
        1,
    ),
    *(
        world(
            f"{file} of the {which} index cut",
            lambda r, file=file, number=number: cut(indexes_of(r)[number] / file),
            "tampered",
            changed(f"results/{{{which}}}/{file}"),
            moves,
            1,
        )
        for which, number, file, moves in (
            ("index", 0, "samples.csv", ALL_TAMPERED),
            ("index", 0, "content.json", ALL_TAMPERED),
            ("other", 1, "pairs.json", TAMPERED),
        )
    ),
    world(
        "index and record forged",
        forge_index,
        "tampered",
        (("edited-record", "results/{index}/record.json"), ("rebuilt", "results/{first}")),
        ALL_TAMPERED,
        1,
    ),
    world("indexed anew", lambda r: forge_index(r, anew=True), "stale", REBUILT_INDEX, ALL_STALE, 1),
    # how it was made
    world("uncommitted", lambda r, patch: dirty(r, first_of(r), patch), "uncommitted", *everywhere("uncommitted")),
    world("committed since", commit_since, "current"),
    world("another device", lambda r: rebuild_record(r, device="1 x GPU"), "mixed", *everywhere("mixed")),
    world("other packages", lambda r: rebuild_record(r, packages={"torch": "1.0"}), "mixed", *everywhere("mixed")),
    world("a seed gone", lose_seed, "incomplete", *everywhere("incomplete"), 1),
    # what is shown
    world("cell edited", lambda r: edit_csv(r, digest=False), "tampered", VALUE, EVERY),
    world("cell edited, digest agrees", edit_csv, "tampered", VALUE, ONE),
    world("value edited", lambda r: edit_csv(r, LINE, LINE.replace("0.793651", "9.9")), "tampered", VALUE, ONE),
    world("cell gone", lambda r: edit_csv(r, f"{LINE}{REST}", ""), "tampered", VALUE, ONE),
    world("cell and lineage edited", lambda r: edit_csv(r, lineage=True), "tampered", VALUE, ONE),
    world("row twice", lambda r: edit_csv(r, LINE, f"{BETTER}{REST}{LINE}"), "current", (("other-text", CSV),)),
    world("table empty", lambda r: empty_csv(r, 0), "tampered", UNREADABLE, EVERY),
    world("table with its header alone", lambda r: empty_csv(r, 1), "tampered", UNREADABLE, EVERY),
    world(
        "lineage edited", lambda r: edit_json(r / LINEAGE, improve), "tampered", (("edited-value", IN_LINEAGE),), ONE
    ),
    world("name in a lineage", lambda r: edit_lineage(r, name="magic"), "tampered", OTHER_RECORD, EVERY),
    world(
        "printed value edited",
        lambda r: edit_csv(r, REPORTED, REPORTED.replace("29.9", "39.9"), digest=False),
        "tampered",
        (("edited-value", f"{CSV} · SCEN · mit-states S"),),
        EVERY,
    ),
    world("other file", lambda r: append(r, f"{TABLE}.md"), "tampered", changed(f"{REPORTS}/{TABLE}.md"), EVERY),
    world(
        "file gone",
        lambda r: (r / REPORTS / f"{TABLE}.tex").unlink(),
        "tampered",
        (("missing-file", f"{REPORTS}/{TABLE}.tex"),),
        EVERY,
    ),
    world(
        "picture edited",
        lambda r: append(r, "msci/figure-curves.png"),
        "current",
        changed(f"{REPORTS}/msci/figure-curves.png"),
        {"msci/figure-curves": {"tampered": 1}},
    ),
    *page_worlds("edited", "changed-file", "README.md", "metrics.json", "index.html", digest=False),
    *page_worlds("edited, digest agrees", "other-text", *PAGE, digest=True),
    world(
        "file beside the page gone",
        lambda r: (r / REPORTS / "curves.csv").unlink(),
        "current",
        (("missing-file", f"{REPORTS}/curves.csv"),),
    ),
    # what the reports hold of builds
    world("inputs in made.json", lambda r: edit_made(r, inputs={"data": "0" * 64}), "tampered", EDITED, TAMPERED, 1),
    world("files in made.json", lambda r: edit_made(r, files=FORGED), "tampered", EDITED, TAMPERED, 1),
    world("host in made.json", lambda r: edit_made(r, host="elsewhere"), "tampered", EDITED, TAMPERED, 1),
    world("made.json empty", lambda r: (r / MADE).write_text(""), "current", (("unreadable", MADE),)),
    # what is asked for
    world("an image more", lambda r: Project(r).set(ONE_IMAGE_MORE), "stale", None, EVERYTHING),
    world("data renamed", lambda r: Project(r).set(DATA_RENAMED), "stale", None, EVERYTHING),
    world("a seed less", lambda r: Project(r).set({SEEDS: [0]}), "stale", None, STALE),
    world("a seed more", lambda r: Project(r).set({SEEDS: [0, 1, 2]}), "stale", None, STALE),
    world("unused parameter", lambda r: Project(r).set({"czsl.feasibility.prompt": "a {name}"}), "current"),
    world(
        "a method more",
        lambda r: Project(r).set({"profiles.smoke.czsl.methods": ["chance", "clip"]}),
        "current",
        tuple(("other-recipe", name) for name in WITH_CLIP),
    ),
    world("other code of metrics", lambda r, patch: other_measures(patch), "stale", None, ALL_STALE),
]


def place_of(root: Path, place: str) -> str:
    (first, second), (index, other) = (map(key_of, folders) for folders in (evaluations_of(root), indexes_of(root)))
    return place.format(first=first, second=second, index=index, other=other)


def traced(root: Path) -> TraceResult:
    work = Workspace(root)
    table = Artifact.read(work.declared, root / CSV)
    return trace(work, table, table.find(row=ROW, column=COLUMN, view=VIEW)[0])


@pytest.mark.parametrize("world", WORLDS)
def test_what_is_spoiled_is_found_and_everything_says_the_same_word(
    root: Path, clean: Audit, monkeypatch: Patch, world: World
) -> None:
    """Nothing else is blamed; where ``found`` is None, everything is stale."""
    names = [place_of(root, place) for _, place in world.found or ()]
    world.spoil(root, monkeypatch)
    key = ("measured", VIEW, ROW, COLUMN)
    work = Workspace(root)
    published = PublishedLineage.read(work, PAPERS_LOADED)
    found, of_page, cell = audited(root), audit_artifacts(work, PAPERS_LOADED, published), traced(root)
    if world.found is None:
        assert {finding.state for finding in found.findings} == {"stale"}
    else:
        codes = sorted((finding.code, finding.place) for finding in found.findings)
        assert codes == sorted((code, name) for (code, _), name in zip(world.found, names, strict=True))
    assert moved(found, clean) == world.moved
    assert found.recomputed == world.recomputed
    assert (found.states[TABLE][key], of_page.states[TABLE][key], cell.state) == (world.word,) * 3
    assert list(found.trusts[TABLE][key].why) == list(of_page.trusts[TABLE][key].why) == cell.why
    assert bool(cell.why) == (world.word != "current")
    site = Site(PAPERS_LOADED, published, of_page, work.params).document()
    of_cell = [
        c for c in site["cells"] if (c["artifact"], c["row"], c["column"], c["view"]) == (TABLE, ROW, COLUMN, VIEW)
    ]
    assert [(each["state"], each["why"]) for each in of_cell] == [(world.word, cell.why)]


def test_every_word_is_said_of_some_world() -> None:
    assert {row.values[0].word for row in WORLDS} | {"unchecked"} == set(STATES)


def test_every_code_has_a_state() -> None:
    assert {code for row in WORLDS for code, _ in row.values[0].found or ()} <= CODES.keys()
    assert set(CODES.values()) == set(STATES) - {"current"}


@pytest.mark.parametrize(
    "spoil", [lambda root: zeroed(scores_of(root)), lambda root: cut(index_of(root) / "samples.csv")]
)
def test_status_says_it_of_what_is_stored(root: Path, spoil: Callable[[Path], None]) -> None:
    def items(state: str) -> list[str]:
        work = Workspace(root)
        return [item.key for item in (store_item(work, recipe) for recipe in work.plan.recipes) if item.state == state]

    assert not items("tampered")
    spoil(root)
    (key,) = items("tampered")
    assert f"results/{key}/" in " ".join(traced(root).why)


def test_without_results_a_number_is_not_verified_here(root: Path) -> None:
    assert traced(root).word == "current"
    shutil.rmtree(root / "results")
    cell = traced(root)
    assert cell.word == "not verified here"
    assert all("is not on this disk" in why for why in cell.why[:3])


def test_what_was_committed_since_is_current_and_says_so(root: Path, monkeypatch: Patch) -> None:
    assert traced(root).note == ""
    commit_since(root, monkeypatch)
    assert traced(root).note == "committed since, in abc1234"


def forget() -> None:
    """A process reads sources, and asks git of them, once."""
    for kept in (fingerprints._read_own, fingerprints._counts, caveats._find_commit):
        kept.cache_clear()


def test_code_that_was_committed_since_is_that_of_a_commit_and_no_other(tmp_path: Path, monkeypatch: Patch) -> None:
    """A repository with one module: uncommitted, committed, edited again, and edited in its comments alone."""
    source = tmp_path / "src/recompose/odd.py"
    source.parent.mkdir(parents=True)
    (tmp_path / "requirements.lock").touch()
    for module in (fingerprints, caveats):
        monkeypatch.setattr(module, "ROOT", source.parent)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, env=environment(), check=True, capture_output=True)

    def fingerprint_of(text: str) -> dict[str, str]:
        source.write_text(text)
        forget()
        return fingerprints.fingerprint(["recompose.odd"])

    git("init", "--quiet")
    try:
        code = fingerprint_of("x = 1\n")
        assert committed_since(code) is None
        git("add", "--all")
        git("commit", "--quiet", "--message", "it")
        caveats._find_commit.cache_clear()
        commit = committed_since(code)
        assert commit
        other = fingerprint_of("x = 2\n")
        assert committed_since(code) is committed_since(other) is None
        assert fingerprint_of("x = 1  # one\n") == code
        assert committed_since(code) is None  # what would be cloned has another file
        assert fingerprint_of("x = 1\n") == code
        assert committed_since(code) == commit
        assert committed_since(code | {"recompose.gone": "0"}) is committed_since({}) is None
    finally:
        forget()
