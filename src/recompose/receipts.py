"""Receipts: small files that state which jobs and artifacts are done. Snakemake owns nothing else below results/.

Every receipt belongs to a scope: everything, a paper, or an artifact. It names files and recipes with their digests and
is valid only while these are unchanged. Neither file times nor an engine's own metadata matter.
"""

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import Any

from recompose.digest import digest, sha256_file, short
from recompose.errors import DamagedError
from recompose.files import read_json, write_json
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.records import Record
from recompose.report.kinds import artifact_files, artifact_recipe, index_recipe, other_budget_inputs
from recompose.report.lineage import lineage_path
from recompose.workspace import Workspace

ALL = "all"  # the scope of everything
FOLDER = "results/receipts"


class Receipts:
    """The receipts of a workspace: their paths, relative to its root as Snakemake names files, and their validity."""

    def __init__(self, work: Workspace) -> None:
        self.work = work
        self._contents: dict[str, tuple[Record, str]] = {}  # by recipe: its record, and the digest of its files

    @cached_property
    def artifacts(self) -> dict[tuple[str, str], Recipe]:
        """The recipe of each artifact, by paper and name."""
        plan = self.work.plan
        return {
            (paper.name, name): artifact_recipe(plan, paper, name)
            for paper in self.work.papers
            for name in paper.artifacts
        }

    # paths

    def job(self, scope: str, queue: str, name: str) -> str:
        """Return the path of the receipt of a job."""
        return f"{FOLDER}/{scope}/{queue}/{name}.json"

    def paper(self, scope: str, paper: str) -> str:
        """Return the path of the receipt of all artifacts of a paper; each scope has its own, of the same content."""
        recipes = [recipe.digest for (name, _), recipe in self.artifacts.items() if name == paper]
        return f"{FOLDER}/{scope}/artifacts/{paper}-{short(digest(recipes))}.json"

    def first_table(self, paper: Paper) -> str:
        """Return the path of the receipt of a paper's headline table, which is made before its other artifacts."""
        recipe = self.artifacts[paper.name, paper.first_artifact]
        return f"{FOLDER}/{ALL}/artifacts/{paper.name}-first-{recipe.folder}.json"

    @cached_property
    def report(self) -> str:
        """The path of the receipt of the report site."""
        return f"{FOLDER}/report/{index_recipe(self.work, self.work.papers).folder}.json"

    @property
    def first_page(self) -> str:
        """The path of the receipt of the report site that holds the first paper alone."""
        return f"{self.report.removesuffix('.json')}-first.json"

    def artifact(self, recipe: Recipe) -> str:
        """Return the path of the receipt of a single artifact."""
        return f"{FOLDER}/artifact/{recipe.folder}.json"

    def stamp(self, paper: str, artifact: str) -> str:
        """Return the path of an artifact's stamp: a file that is newer than the artifact, with new content, exactly if
        the artifact is due.
        """
        return f"{FOLDER}/due/{paper}/{artifact}"

    # statements

    def write(self, path: Path, files: Iterable[Path], recipes: Iterable[Recipe] = ()) -> None:
        """Write a receipt: these files are made from the contents of these recipes."""
        write_json(path, self._statement(files, recipes))

    def write_artifacts(self, paper: Paper, names: Iterable[str]) -> None:
        """Write the receipts of single artifacts of a paper."""
        for name in names:
            recipe = self.artifacts[paper.name, name]
            files = [self.work.reports / paper.name / file for file in artifact_files(paper, name)]
            self.write(self._absolute(self.artifact(recipe)), files, self.inputs(paper, name))

    def inputs(self, paper: Paper, name: str) -> list[Recipe]:
        """Return what an artifact is made from: what it needs, and what it shows of another budget if that was run."""
        needs = self.artifacts[paper.name, name].needs.values()
        return [*needs, *other_budget_inputs(self.work.plan, paper, name)]

    def _statement(self, files: Iterable[Path], recipes: Iterable[Recipe]) -> dict[str, Mapping[str, Any]]:
        return {
            "files": {file.relative_to(self.work.root).as_posix(): sha256_file(file) for file in sorted(files)},
            "contents": {recipe.key: self._content(recipe) for recipe in recipes},
        }

    def _content(self, recipe: Recipe) -> str | None:
        try:
            record = self.work.store.record(recipe)
        except DamagedError:
            return None
        cached = self._contents.get(recipe.digest)
        if cached is None or cached[0] is not record:  # the store reads a record again after its file was touched
            cached = self._contents[recipe.digest] = record, record.content
        return cached[1]

    def _absolute(self, path: str) -> Path:
        return self.work.root / path

    # validity

    def is_valid(self, path: Path) -> bool:
        """Return true if a receipt exists and all files and stored contents that it names are unchanged."""
        try:
            statement = read_json(path)
            files, contents = statement["files"], statement["contents"]
            unchanged = all(sha256_file(self._absolute(name)) == sha256 for name, sha256 in files.items())
            return bool(files) and unchanged and all(self._is_unchanged(*stored) for stored in contents.items())
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            return False

    def _is_unchanged(self, key: str, sha256: str | None) -> bool:
        recipe = self.work.plan.by_key.get(key)
        return recipe is not None and self._content(recipe) == sha256

    def is_due(self, paper: str, artifact: str, recipe: Recipe) -> bool:
        """Return true unless an artifact exists and was made from the present contents of the store."""
        lineage = lineage_path(self.work.reports / paper / artifact)
        receipt = self._absolute(self.artifact(recipe))
        return not (lineage.exists() and receipt.exists() and self.is_valid(receipt))

    def reconcile(self) -> list[Path]:
        """Set all stamps and remove invalid receipts; returns the removed ones.

        Receipts of first tables and pages belong to one call: they are always removed, and not returned.
        """
        for (paper, artifact), recipe in self.artifacts.items():
            self._set_stamp(paper, artifact, recipe)
        by_paper = [
            [self._absolute(self.paper(scope, paper.name)) for scope in (ALL, paper.name)] for paper in self.work.papers
        ]
        outdated = [
            path for paths in (*by_paper, [self._absolute(self.report)]) for path in self._remove_outdated(paths)
        ]
        for paths in by_paper:
            _share(paths)
        for path in self.work.root.glob(f"{FOLDER}/*/**/*-first*.json"):
            path.unlink()
        return outdated

    def _set_stamp(self, paper: str, artifact: str, recipe: Recipe) -> None:
        path = self._absolute(self.stamp(paper, artifact))
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.is_due(paper, artifact, recipe):
            path.write_text(token_hex())  # Snakemake takes a newer file with the same content for unchanged
        else:
            path.touch()
            os.utime(path, (0, 0))

    def _remove_outdated(self, paths: list[Path]) -> list[Path]:
        outdated = [path for path in paths if path.exists() and not self.is_valid(path)]
        for path in outdated:
            path.unlink()
        return outdated


def _share(paths: list[Path]) -> None:
    """Copy an existing receipt to the other scopes' paths."""
    if existing := [path for path in paths if path.exists()]:
        for path in paths:
            if not path.exists():
                write_json(path, read_json(existing[0]))
