"""What runs where a project's contents are made again, and is not in their identities: ``python -m tests.tracing``.

One content of each kind, track, method and data set is made, with metrics of each such evaluation, every table and
figure, and the page; in a process of its own, as the project may have code of its own. Nothing of the project changes.
"""

import ast
import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

from recompose.audit.audit import audit
from recompose.backbones.steps import RAW
from recompose.commands.report import write_page
from recompose.phases import carry_out, needs_of
from recompose.recipes.fingerprint import OUTSIDE, REST, ROOT, Part, reached
from recompose.recipes.plan import ARITHMETIC, Recipe, closure
from recompose.tables.artifacts import write_artifact
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.tables.stored_results import StoredResults
from recompose.workflow.worker.server import import_all
from recompose.workspace import Workspace


@cache
def names_by_line(file: str) -> dict[int, str]:
    """The name that the statement at the top level around each line defines; none of other statements."""
    names: dict[int, str] = {}
    for node in ast.parse(Path(file).read_text()).body:
        targets = [*getattr(node, "targets", []), getattr(node, "target", None)]
        name = getattr(node, "name", None) or next((each.id for each in targets if isinstance(each, ast.Name)), REST)
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        names |= dict.fromkeys(range(first, (node.end_lineno or first) + 1), name)
    return names


class Tracer:
    """The definitions of this package and of plugins that run."""

    def __init__(self, packages: Iterable[Path]) -> None:
        self.folders = [str(package) + os.sep for package in packages]

    @contextmanager
    def parts(self) -> Iterator[set[Part]]:
        """Note what runs in this context, in any thread."""
        codes, parts = set[CodeType](), set[Part]()

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "call":
                codes.add(frame.f_code)

        threading.setprofile(note)
        sys.setprofile(note)
        try:
            yield parts
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            parts |= {part for code in codes for part in self._part_of(code) if not is_outside(*part)}

    def _part_of(self, code: CodeType) -> Iterator[Part]:
        """Yield the module of a function, and the definition at the top level that holds it."""
        for folder in self.folders:
            if code.co_filename.startswith(folder) and code.co_filename.endswith(".py"):  # no template
                path = Path(code.co_filename).relative_to(Path(folder).parent).with_suffix("")
                module = ".".join(path.parts).removesuffix(".__init__")
                yield module, names_by_line(code.co_filename).get(code.co_firstlineno, REST)


def is_outside(module: str, name: str) -> bool:
    return f"{module}:{name}" in OUTSIDE or any(f"{module}.".startswith(f"{outside}.") for outside in OUTSIDE)


def one_of_each(recipes: Iterable[Recipe]) -> list[Recipe]:
    """One recipe of each kind, track, method and data set, and of what evaluations save."""
    chosen: dict[tuple[object, ...], Recipe] = {}
    for recipe in recipes:
        about = recipe.labels.get("method") or recipe.labels.get("dataset") or recipe.name
        saved = tuple(recipe.document.get("save", ()))
        chosen.setdefault((recipe.kind, recipe.track, about, saved), recipe)
    return [*chosen.values()]


class Traced:
    """What ran of each content beside its identity, and the modules of identities in which nothing ran."""

    def __init__(self, work: Workspace, scratch: Path) -> None:
        self.work, self.scratch = work, scratch
        self.tracer = Tracer([ROOT, *(plugin.folder for plugin in work.plugins)])
        self.unidentified: dict[str, list[str]] = {}
        self.never: dict[str, int] = {}
        self._made: dict[str, Path] = {}

    def compare(self, name: str, ran: set[Part], own: set[Part], other: set[Part] = frozenset()) -> None:
        if beside := ran - own - other:
            self.unidentified[name] = sorted(map(":".join, beside))
        self.never[name] = len({module for module, _ in own} - {module for module, _ in ran})

    def make(self, recipe: Recipe) -> None:
        folder = self.scratch / recipe.key
        folder.mkdir(parents=True)
        needs = self._needs(recipe)
        if recipe.kind == "data":
            needs[RAW] = self.scratch / "raw"  # it is generated anew
        with self.tracer.parts() as ran:
            carry_out({folder: recipe}, needs)
        self._made[recipe.key] = folder
        # raw files that were deleted are generated again by the code of their data, whose digest is part of this one
        behind = [need for need in closure([recipe]) if need.kind == "data"]
        other = set[Part]().union(*(reached(need.made_by.values()) for need in behind))
        self.compare(f"{recipe.kind} {recipe.name}", ran, reached([*recipe.made_by.values(), ARITHMETIC]), other)

    def _needs(self, recipe: Recipe) -> dict[str, Path]:
        """The folders that a recipe needs, some of which were made here."""
        if any(need.key in self._made and not self.work.store.is_complete(need) for need in recipe.needs.values()):
            return {role: self._made.get(need.key, self.work.store.folder(need)) for role, need in recipe.needs.items()}
        return needs_of(self.work, recipe)

    def write(self) -> None:
        """Write every table and figure, and the page."""
        reports, results = Reports(self.work), StoredResults(self.work)
        for paper in self.work.papers:
            for name in paper.artifacts:
                recipe = reports.artifact(f"{paper.name}/{name}")
                with self.tracer.parts() as ran:
                    write_artifact(results, paper, name, recipe, self.scratch / recipe.key)
                self.compare(f"artifacts {recipe.name}", ran, reached([*recipe.made_by.values(), ARITHMETIC]))
        published = Published.of_store(reports)
        with self.tracer.parts() as ran:
            audited = audit(reports, published, self.work.papers, quick=True)
            write_page(reports, published, audited, self.scratch)
        page = reports.page
        # what is shown of artifacts is read by their code, whose digests are part of the page's
        other = set[Part]().union(*(reached(need.made_by.values()) for need in page.needs.values()))
        self.compare("page", ran, reached([*page.made_by.values(), ARITHMETIC]), other)


def main(root: str, scratch: str, methods: str = "") -> None:
    """Print, as JSON, what ran beside identities, and how many modules of each identity did not.

    Args:
        root: of a project with complete results.
        scratch: a folder with params.yaml, where contents are made.
        methods: whose contents are made, alone; by default of all, with all tables, figures and the page.
    """
    work = Workspace(Path(scratch), folder=Path(root))
    import_all()  # what runs at imports runs before
    traced, chosen = Traced(work, Path(scratch)), methods.split()
    for recipe in one_of_each(work.plan.recipes):
        if not chosen or recipe.labels.get("method") in chosen:
            traced.make(recipe)
            if recipe.kind == "evaluations":
                for metrics in work.catalogue[recipe.track].metrics_of(recipe):
                    traced.make(metrics)
    if not chosen:
        traced.write()
    print(json.dumps({"unidentified": traced.unidentified, "never": traced.never}))


if __name__ == "__main__":
    main(*sys.argv[1:])
