"""The core knows no track: no word of theirs, no import of one, and no torch before something is computed."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recompose.fingerprint import ROOT
from recompose.papers.declaration import PAPERS
from recompose.tracks import TRACKS

pytestmark = pytest.mark.slow

ELSEWHERE = ("tracks", "harness", "synthetic", "papers")  # folders that are no core, or know a track on purpose
WORDS = ("feasib", "unseen", "closed_world", "harmonic", "state-object", "caption_", "glove")
WHOLE = ("pairs", "attr", "attribute", "captions")  # as a word between underscores, hyphens, slashes and the like
ALLOWED = {
    # pairs of other things than a state and an object
    "backbones/clip.py": {"pairs"},
    "claims/verdicts.py": {"pairs"},  # of runs
    "cli.py": {"pairs"},  # in an example of a column
    # pairs of an image and a caption, and of two sides of a claim
    "plugins.py": {"pairs", "captions"},
    "site/claims.py": {"pairs"},
    "site/items.py": {"pairs"},
    "commands/items.py": {"pairs"},
    "scaffolds/example_items.py": {"caption_"},  # of an item in the form of Winoground
    "data/archives.py": {"attr"},  # a field of zip files
}
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in ROOT.rglob("*.py")
    if path.relative_to(ROOT).parts[0] not in ELSEWHERE and "architectures" not in path.parts
)


def docstrings(tree: ast.Module) -> set[int]:
    """The nodes that are docstrings, also of what is assigned above them."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    statements = (each for node in ast.walk(tree) if isinstance(node, documented) for each in node.body)
    return {
        id(each.value) for each in statements if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }


def texts(tree: ast.Module) -> Iterator[str]:
    """Every identifier and every text of a module, docstrings left out."""
    told = docstrings(tree)
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            if isinstance(value := getattr(node, field, None), str):
                yield value
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def words_of(text: str) -> set[str]:
    separated = "".join(letter if letter.isalnum() else " " for letter in text.lower())
    return set(separated.split())


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def violations(name: str) -> set[str]:
    found = set()
    for text in texts(ast.parse((ROOT / name).read_text())):
        found |= {word for word in WORDS if word in text.lower()}
        found |= words_of(text) & set(WHOLE)
    return found - ALLOWED.get(name, set())


def test_the_scan_finds_what_it_looks_for() -> None:
    tree = ast.parse(
        "from recompose.tracks.czsl.data import pairs\n"
        'def unseen_rows(attr):\n    "of unseen pairs"\n    x.feasibility = "closed_world"  # unseen\n'
    )
    assert set(texts(tree)) >= {"unseen_rows", "attr", "feasibility", "closed_world", "pairs"}
    assert "of unseen pairs" not in set(texts(tree))
    assert "recompose.tracks.czsl.data" in set(imports(tree))


def test_the_core_has_no_word_of_a_track() -> None:
    assert {name: found for name in [*MODULES, "tracks/track.py"] if (found := violations(name))} == {}


def test_the_core_imports_no_track() -> None:
    found = {
        (name, module)
        for name in [*MODULES, "tracks/track.py"]
        for module in imports(ast.parse((ROOT / name).read_text()))
        if any(f"{module}.".startswith(f"recompose.tracks.{track}.") for track in TRACKS)
    }
    assert found == set()


def test_the_core_computes_with_no_name_of_a_track_or_a_paper() -> None:
    """A text of one word, as it would be looked up or compared with; examples in what is said to people may hold
    one.
    """
    names = {*TRACKS, *PAPERS}
    found = {(name, text) for name in MODULES for text in texts(ast.parse((ROOT / name).read_text())) if text in names}
    assert found == set()


TORCHFREE = sorted(
    "recompose." + name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    for name in MODULES
    if name.split("/")[0] in ("report", "audit", "commands", "site", "params")
    or name
    in (
        "cli.py",
        "graph.py",
        "phases.py",
        "plan.py",
        "store.py",
        "metric_cache.py",
        "costs.py",
        "workspace.py",
    )
)


def test_nothing_that_plans_reports_or_audits_imports_torch() -> None:
    """Nor what else takes long to import: drawing a figure may, when it is asked for."""
    heavy = ("torch", "pytorch_lightning", "open_clip", "torchvision")
    code = f"import {', '.join(TORCHFREE)}, sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(ROOT).parent.parent
    )
    assert done.stdout.strip() == "[]"
    assert {"recompose.cli", "recompose.graph", "recompose.audit.audit", "recompose.site.build"} <= set(TORCHFREE)


def test_all_commands_start_without_what_draws() -> None:
    code = (
        "import recompose.cli, sys; print([name for name in ('matplotlib', 'pandas', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(ROOT).parent.parent
    )
    assert done.stdout.strip() == "[]"


def test_every_import_is_written_out() -> None:
    """A fingerprint follows imports by their whole names."""
    relative = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
    }
    assert relative == set()
