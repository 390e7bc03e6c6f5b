"""The state of everything that the plan needs."""

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from recompose.commands.status import current_status, needed_by, show
from recompose.files import write_json
from recompose.papers.declaration import Claim, Margin, Paper
from recompose.recipes.plan import Recipe, closure
from recompose.workspace import Workspace
from tests.configuration import PROGRESS
from tests.tables.fakes import paper_of

pytestmark = pytest.mark.slow

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def study(work: Workspace) -> Workspace:
    """The same with more seeds and with all variants."""
    return Workspace(work.root, ("profile=large",))


def make(work: Workspace, recipe: Recipe) -> None:
    with work.store.build(recipe) as folder:
        if folder:
            (folder / "scores.json").write_text("{}")


def make_before(work: Workspace, recipes: Iterable[Recipe]) -> None:
    """Make what these need, but not themselves."""
    digests = {recipe.digest for recipe in recipes}
    for recipe in closure(recipes):
        if recipe.digest not in digests:
            make(work, recipe)


def begin(folder: Path | None) -> None:
    """Leave what a process that trains keeps of how far it is."""
    assert folder
    write_json(folder / "scratch/progress.json", PROGRESS | {"at": NOON.isoformat()})


def evaluations_of(work: Workspace, name: str) -> list[Recipe]:
    return work.plan.evaluations("czsl", name, "shapes-pairs")


def with_runs(evaluations: list[Recipe]) -> set[str]:
    return {recipe.digest for evaluation in evaluations for recipe in (evaluation, evaluation.needs["run"])}


def test_a_run_counts_for_every_paper_that_needs_it_under_any_name(study: Workspace) -> None:
    msci, duplex, csp = (evaluations_of(study, name) for name in ("msci", "duplex", "csp"))

    def table_of(rows: dict[str, str]) -> Paper:
        return paper_of(kind="metrics", rows=rows)

    assert needed_by(study.plan, table_of({"2": "msci-2-layers"})) == with_runs(msci[:1])  # the plan calls it msci
    tested = evaluations_of(study, "duplex-tested-factors")
    assert needed_by(study.plan, table_of({"a": "duplex-tested-factors"})) == with_runs(tested)
    assert with_runs(tested) & with_runs(duplex) == {recipe.needs["run"].digest for recipe in duplex}
    claim = Claim(
        sentence="", artifact="claims", metric="", margin=Margin(value=1, source="x"), higher="csp", lower=["msci"]
    )
    assert needed_by(study.plan, paper_of({"better": claim})) == with_runs([*csp, *msci])


def test_each_state_is_seen(work: Workspace) -> None:
    done, damaged, failed, running, interrupted, waiting = work.plan.of("runs")[:6]
    make_before(work, [done, damaged, failed, running, interrupted])
    make(work, done)
    make(work, damaged)
    (work.store.folder(damaged) / "scores.json").write_text("{ }")
    with pytest.raises(ZeroDivisionError), work.store.build(failed):
        _ = 1 / 0
    with pytest.raises(KeyboardInterrupt), work.store.build(interrupted) as folder:
        begin(folder)
        raise KeyboardInterrupt
    with work.store.build(running) as folder:
        begin(folder)
        status = current_status(work)
    states = {item.folder: item.state for item in status.items}
    runs = {"current": done, "changed": damaged, "failed": failed, "running": running, "interrupted": interrupted}
    assert {state: states[run.folder] for state, run in runs.items()} == {state: state for state in runs}
    assert states[waiting.folder] == "missing"
    (item,) = status.items_in("running")
    assert item.progress and (item.progress.done, item.progress.total) == (2, 5)
    file = io.StringIO()
    show(Console(file=file, width=200), status)
    text = file.getvalue()
    assert "ZeroDivisionError: division by zero" in text
    assert f"results/runs/{failed.folder}/error.txt" in text
    assert f"recompose make runs/{failed.folder}" in text
    assert f"runs/{interrupted.folder} {interrupted.name}, epoch 2/5" in text
    assert f"recompose make runs/{interrupted.folder}" in text
