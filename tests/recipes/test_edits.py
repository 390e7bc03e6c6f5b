"""What an edit makes due: thirty edits of code and declarations, and whatever each changes itself.

What needs something that changes is made anew with it: a digest covers those of the needs. Contents are named
``<kind>/<track>/<method or data set>``.
"""

import json
import os
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.conftest import ROOT, with_values

pytestmark = pytest.mark.slow
# in a new process, as edits may change what planning itself imports
TELL = """
import json, sys
from pathlib import Path
from recompose.digest import digest
from recompose.recipes.fingerprint import keep_summaries
from recompose.tables.reports import Reports
from recompose.workspace import Workspace

work, own = Workspace(Path(sys.argv[1])), {}
for recipe in Reports(work).by_key.values():
    labels = recipe.labels
    about = labels.get("artifact") or labels.get("method") or labels.get("benchmark") or labels.get("dataset")
    name = "/".join([recipe.kind, recipe.track or "-", about or recipe.name])
    own.setdefault(name, []).append(digest([recipe.document, recipe.made_by, recipe.code]))
keep_summaries()
print(json.dumps(own))
"""
Edit = tuple[str, str, str, str]  # file, text, text in its place, patterns of the names of what is due; - takes away

S = "src/recompose"
C, V = f"{S}/tracks/czsl", f"{S}/tracks/vlc"
EDITS: dict[str, Edit] = {
    "order of pictures": (
        f"{V}/data/index.py",
        "picture for suite in suites for picture in suite.images)",
        "picture for suite in suites[::-1] for picture in suite.images)",
        "pixels/vlc/* evaluations/vlc/* artifacts/vlc/figure-5",
    ),
    "limit of a suite": (
        f"{V}/data/formats/eqben.py",
        "files.limit.of(groups[name], name)",
        "groups[name]",
        "data/vlc/shapes-suites metrics/vlc/*",
    ),
    "reader of an index of pairs": (
        f"{C}/data/pairs.py",
        'for row in read_csv(folder / "samples.csv")',
        'for row in read_csv(folder / "samples.csv")[1:]',
        "data/czsl/* pixels/czsl/* runs/czsl/* evaluations/czsl/* metrics/czsl/* artifacts/czsl/* page/*",
    ),
    "reader of classes": (
        f"{S}/tracks/gzsl/data/classes.py",
        'image["hard"] == "1"',
        'image["hard"] != "0"',
        "data/gzsl/* grids/gzsl/* runs/gzsl/* evaluations/gzsl/* metrics/gzsl/* artifacts/gzsl/* page/*",
    ),
    "reader of captions": (
        f"{V}/data/captions.py",
        'tuple(document["captions"])',
        'tuple(map(str, document["captions"]))',
        "data/vlc/shapes-laion pixels/vlc/* runs/vlc/* artifacts/vlc/figure-6",
    ),
    "unit of a metric": (
        f"{C}/metric_values.py",
        'OF_GROUP = Metric("%"',
        'OF_GROUP = Metric("percent"',
        "artifacts/czsl/* page/*",
    ),
    "digits of a metric": (
        f"{V}/__init__.py",
        'ACCURACY = Metric("%", 100, 1,',
        'ACCURACY = Metric("%", 100, 2,',
        "artifacts/vlc/* page/*",
    ),
    "label of a metric": (f"{V}/__init__.py", '("Comp", "ZS",', '("Compositionality", "ZS",', "artifacts/vlc/* page/*"),
    "threads": (
        "params.yaml",
        "threads: 1\n      acc",
        "threads: 2\n      acc",
        "features/* grids/* runs/* evaluations/* -evaluations/czsl/chance",
    ),
    "validator that changes a value": (
        f"{S}/tracks/gzsl/methods/settings.py",
        "        return agt",
        "        return bool(agt)",
        "runs/gzsl/crest evaluations/gzsl/crest artifacts/gzsl/* page/*",
    ),
    "comment": (f"{C}/methods/msci.py", "# Eq. 9", "# Equation 9", ""),
    "docstring": (f"{S}/training/loop.py", "Return the seed of one epoch;", "Return an epoch's seed;", ""),
    "message": (f"{S}/data/content.py", "Put the files back;", "Put back the files;", ""),
    "annotation": (
        f"{S}/training/loop.py",
        "(seed: int, epoch: int) -> int:",
        "(seed: int, epoch: float) -> float:",
        "",
    ),
    "progress": (f"{S}/progress.py", 'track(steps, f"{title}, {unit}"', 'track(steps, f"{title}: {unit}"', ""),
    "description of a parameter": (
        f"{S}/params/sections.py",
        "Scenes in a batch, which are contrasted with each other.",
        "Scenes of a batch.",
        "page/*",
    ),
    "downloader": (f"{S}/data/upstream.py", "delivers {difference}", "brings {difference}", ""),
    "equation of MSCI": (
        f"{C}/methods/msci.py",
        "self.shares[name] * stage",
        "2 * self.shares[name] * stage",
        "runs/czsl/msci evaluations/czsl/msci",
    ),
    "loss of the three paths": (
        f"{C}/methods/three_path.py",
        '"state": pairs[targets, 0], "object"',
        '"state": pairs[targets, 0] + 0, "object"',
        "*/czsl/c-s-o */czsl/troika -metrics/*",
    ),
    "loss of FSC-CLIP": (
        f"{V}/methods/fsc_clip.py",
        "loss + settings.local_weight",
        "loss + 2 * settings.local_weight",
        "runs/vlc/fsc-clip evaluations/vlc/fsc-clip",
    ),
    "evidence of CREST": (
        f"{S}/tracks/gzsl/methods/crest.py",
        "classes / (evidence.sum(dim=1) + classes)",
        "classes / (classes + evidence.sum(dim=1))",
        "runs/gzsl/crest evaluations/gzsl/crest",
    ),
    "training loop": (
        f"{S}/training/loop.py",
        "seed * 100_003 + epoch",
        "seed * 100_019 + epoch",
        "runs/* backbones/-/shapes-clip-sentences-from-scratch",
    ),
    "attention of towers": (
        f"{S}/backbones/attention.py",
        "attended.transpose(1, 2)",
        "attended.mT.transpose(1, 2)",
        "features/* grids/* runs/czsl/* runs/vlc/* evaluations/czsl/* evaluations/vlc/*"
        " backbones/-/shapes-clip-sentences-from-scratch",
    ),
    "decoding": (f"{S}/backbones/pixels.py", "round((width - size) / 2)", "(width - size) // 2", "pixels/* grids/*"),
    "synthetic scenes": (
        f"{S}/synthetic/sentences.py",
        "2: ((18, 32), (46, 32)),",
        "2: ((19, 32), (46, 32)),",
        "data/vlc/* data/-/shapes-sentences artifacts/vlc/* page/*",
    ),
    "writer of senses": (
        f"{V}/data/shapes_captions.py",
        "dict.fromkeys(sense.words, sense.count)",
        "dict.fromkeys(sense.words, 1)",
        "data/vlc/shapes-laion",
    ),
    "metric of groups": (
        f"{C}/metrics/groups.py",
        "float(right[of_group].mean())",
        "float(np.median(right[of_group]))",
        "metrics/czsl/*",
    ),
    "format of tables": (f"{S}/tables/formats.py", 'f"{value:.6g}"', 'f"{value:.7g}"', "artifacts/* page/*"),
    "style of the page": (
        f"{S}/site/style.css",
        "* { box-sizing: border-box; }",
        "* { box-sizing: content-box; }",
        "page/*",
    ),
    "notes of a paper": (
        f"{S}/papers/msci/notes.md",
        "The table keeps the printed values",
        "The table has the printed values",
        "page/*",
    ),
    "title of an artifact": (
        f"{S}/papers/msci/paper.yaml",
        "caption: Comparison with other models in the closed world.",
        "caption: Comparison with others in the closed world.",
        "artifacts/czsl/table-2",
    ),
}


class Sources:
    """A copy of this project's sources, with the profile smoke."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("src", "workflow"):
            shutil.copytree(ROOT / name, root / name)
        params = (ROOT / "params.yaml").read_text()
        (root / "params.yaml").write_text(with_values(params, {"profile": "smoke"}))

    def told(self) -> dict[str, list[str]]:
        """The digests of what determines each content, apart from what it needs."""
        variables = os.environ | {"PYTHONPATH": str(self.root / "src")}
        command = [sys.executable, "-c", TELL, str(self.root)]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, cwd=self.root)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

    def told_after(self, edit: Edit) -> dict[str, list[str]]:
        name, old, new, _ = edit
        path = self.root / name
        before = path.read_text()
        assert before.count(old) == 1, f"{name} has this text {before.count(old)} times: {old}"
        path.write_text(before.replace(old, new))
        try:
            return self.told()
        finally:
            path.write_text(before)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return Sources(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def before(sources: Sources) -> dict[str, list[str]]:
    return sources.told()


@pytest.mark.parametrize("about", EDITS)
def test_an_edit_makes_due_what_it_changes_and_nothing_else(
    about: str, sources: Sources, before: dict[str, list[str]]
) -> None:
    after = sources.told_after(EDITS[about])
    assert after.keys() == before.keys()
    changed = {name for name in before if after[name] != before[name]}
    due: set[str] = set()
    for pattern in EDITS[about][3].split():
        meant = {name for name in before if fnmatchcase(name, pattern.removeprefix("-"))}
        assert meant, pattern
        due = due - meant if pattern.startswith("-") else due | meant
    assert changed == due
