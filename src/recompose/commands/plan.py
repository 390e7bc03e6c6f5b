"""`recompose plan`: the work that is left, or that an edit of params.yaml would cause. Nothing is made or edited."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from recompose.commands.status import needed_by
from recompose.console import (
    counted,
    first,
    gibibytes,
    line,
    new_table,
    pluralize,
    print_json,
    print_line,
    rough_duration,
)
from recompose.cores import usable_cores
from recompose.costs import SIMILAR, UNKNOWN, CostEstimate, Costs, TimeLeft, time_left
from recompose.phases import KINDS, TRAINED, gpus_of
from recompose.recipes.plan import Recipe
from recompose.tables.published import Published
from recompose.tables.reports import Reports, planned_recipes
from recompose.workspace import Workspace

MOST = 6  # names that a sentence lists


@dataclass(frozen=True)
class PlannedItem:
    """A recipe that the parameters ask for, with its state and estimate."""

    kind: str
    folder: str
    title: str
    method: str  # of a run or an evaluation, otherwise the recipe's name
    name: str  # of a run's or an evaluation's variant, otherwise as the method
    papers: tuple[str, ...]  # that need a run or an evaluation
    new: bool  # true where only the edited parameters ask for it
    complete: bool
    estimate: CostEstimate | None  # None: unknown, or complete
    gpus: int


@dataclass(frozen=True)
class WorkPlan:
    """Everything that a profile asks for, and the work and the changes that follow from edits, or from what is left."""

    profile: str
    edits: tuple[str, ...]
    notes: list[str]
    items: list[PlannedItem]
    left: TimeLeft
    dropped: int  # runs that the edited parameters no longer ask for
    changed: dict[str, int]  # artifact that edits change, <paper>/<name> -> the number of its cells that they change
    due: int  # artifacts to make, without edits

    @property
    def to_make(self) -> list[PlannedItem]:
        """The items that a workflow would make."""
        return [item for item in self.items if not item.complete]

    @property
    def changes_runs(self) -> bool:
        """True where the edits add or drop a run."""
        return bool(self.dropped) or any(item.new for item in self.items if item.kind == "runs")


def work_plan(root: Path, edits: tuple[str, ...] = ()) -> WorkPlan:
    """Return the work that edits of params.yaml cause, each written ``path=value``; without edits, what is left.

    Raises:
        ParamsError: an edit does not fit into params.yaml.
    """
    after = Workspace(root, edits)
    before = Workspace(root) if edits else after
    costs = Costs.of(after, before.plan)
    runs = {run.digest for run in after.plan.of("runs")}
    return WorkPlan(
        after.params.profile,
        edits,
        [*_overridden_edits(after), *_idle_methods(after)],
        list(_planned_items(after, costs, {recipe.digest for recipe in before.plan.recipes})),
        time_left(after, costs, after.missing(after.plan.recipes)),
        sum(run.digest not in runs for run in before.plan.of("runs")),
        dict(_changed_artifacts(before, after)) if edits else {},
        0 if edits else sum(Reports(after).due_counts().values()),
    )


def _planned_items(work: Workspace, costs: Costs, planned: set[str]) -> Iterator[PlannedItem]:
    """Yield everything that a workspace asks for; what is not in ``planned``, the digests before an edit, is new."""
    by_paper = {paper.name: needed_by(work.plan, paper) for paper in work.papers}
    for recipe in work.plan.recipes:
        complete = work.store.is_complete(recipe)
        method = str(recipe.labels.get("method", recipe.name))
        yield PlannedItem(
            recipe.kind,
            recipe.folder,
            recipe.name,
            method,
            str(recipe.labels.get("name", method)),
            tuple(paper for paper, digests in by_paper.items() if recipe.digest in digests),
            recipe.digest not in planned,
            complete,
            None if complete else costs.estimate(recipe),
            gpus_of(work, [recipe]),
        )


def _overridden_edits(after: Workspace) -> Iterator[str]:
    """Yield a note for each edit of a value that the profile overrides."""
    for edit in after.edits:
        path = edit.partition("=")[0]
        for key in after.params.chosen.override:
            if path == key or path.startswith(f"{key}.") or key.startswith(f"{path}."):
                yield f"profiles.{after.params.profile}.override sets {key}, which hides {path}"


def _idle_methods(work: Workspace) -> Iterator[str]:
    """Yield a note for each method that no profile and no comparison runs."""
    params = work.params
    for name, track in work.catalogue.items():
        choices = [choice for profile in params.profiles.values() if (choice := profile.tracks.get(name))]
        run = {method for choice in choices for method in choice.methods}
        run |= {row for comparison in work.comparisons for row in comparison.compared if comparison.track == name}
        for method in track.methods:
            if method not in run:
                yield f"no profile and no comparison runs {name}'s method {method}: add it to the methods of a profile"


def _changed_artifacts(before: Workspace, after: Workspace) -> Iterator[tuple[str, int]]:
    """Yield the artifacts with other inputs than before the edits, each with the number of its cells in the reports
    that have others, too.
    """
    old, new = Reports(before), Reports(after)
    published = Published.read(new)
    for paper in after.papers:
        for name in paper.artifacts:
            key = f"{paper.name}/{name}"
            if _differ(*(recipe.needs.values() if recipe else () for recipe in (old.planned(key), new.planned(key)))):
                cells = published.cells.get(key, [])
                inputs = ([planned_recipes(work.plan, paper.track, cell) for work in (before, after)] for cell in cells)
                yield key, sum(_differ(*pair) for pair in inputs)


def _differ(old: Iterable[Recipe], new: Iterable[Recipe]) -> bool:
    return [recipe.digest for recipe in old] != [recipe.digest for recipe in new]


def show_plan(root: Path, edits: tuple[str, ...], *, as_json: bool) -> None:
    """Print what the parameters ask for, which part of it is complete, and the time that is left; after edits, only
    what is new or left, as does the document.
    """
    plan, console = work_plan(root, edits), Console()
    if as_json:
        print_json(replace(plan, items=[item for item in plan.items if item.new or not item.complete]))
        return
    print_line(console, (" with ".join([f"profile {plan.profile}", *plan.edits]), "bold"))
    if plan.left.unknown:
        kinds = Counter(item.kind for item in plan.to_make if item.estimate is None)
        counts = ", ".join(counted(kinds[kind], kind) for kind in KINDS if kinds[kind])
        unknown = f"{plan.left.unknown} of {len(plan.to_make)} jobs ({counts})"
        print_line(console, f"Unknown: the time of {unknown}, as nothing like them was made.")
    if (table := groups_table(plan)).row_count:
        console.print(table)
    for sentence in sentences(plan):
        print_line(console, sentence)


def groups_table(plan: WorkPlan) -> Table:
    """Return a table of the runs and evaluations that the same papers need, the complete ones among them, and the time
    that is left; after edits, with a column for what is new, and without papers that have nothing to make.
    """
    table = new_table(("papers", "methods"), (*TRAINED, *(["new"] if plan.edits else ()), "time left"))
    groups: dict[tuple[str, ...], list[PlannedItem]] = {}
    for item in plan.items:
        if item.kind in TRAINED:
            groups.setdefault(item.papers, []).append(item)
    for papers, members in groups.items():
        missing, new = [item for item in members if not item.complete], [item for item in members if item.new]
        if missing or new or not plan.edits:
            methods = {item.method for item in new or members}
            variants = len({item.name for item in new or members} - methods)
            count = methods.pop() if len(methods) == 1 else str(len(methods))
            count += f" + {pluralize(variants, 'variant')}" if variants else ""
            cells = [", ".join(papers) or "no paper", count]
            cells += [_completeness(members, kind) for kind in TRAINED]
            table.add_row(*map(line, [*cells, *([str(len(new))] if plan.edits else ()), _duration(missing)]))
    return table


def _completeness(items: Iterable[PlannedItem], kind: str) -> str:
    """Return the number of complete items of a kind, as in "3 of 5"; empty without any."""
    complete = [item.complete for item in items if item.kind == kind]
    return f"{sum(complete)} of {len(complete)}" if complete else ""


def _duration(items: list[PlannedItem]) -> str:
    """Return the time that items take one after another, marked where estimates are missing; empty without items."""
    seconds = [item.estimate.seconds for item in items if item.estimate]
    if not seconds:
        return UNKNOWN if items else ""
    return f"{'> ' if len(seconds) < len(items) else ''}{rough_duration(sum(seconds))}"


def sentences(plan: WorkPlan) -> Iterator[str]:
    """Yield the sentences below the table."""
    yield from plan.notes
    if steps := [kind for kind in KINDS if kind not in TRAINED and any(item.kind == kind for item in plan.to_make)]:
        yield f"Steps before runs: {', '.join(f'{kind} {_completeness(plan.items, kind)}' for kind in steps)}."
    if plan.to_make:
        runs, evaluations = (sum(item.kind == kind for item in plan.to_make) for kind in TRAINED)
        yield f"{pluralize(runs, 'run')} to train and {pluralize(evaluations, 'evaluation')} to score."
        yield from _total(plan)
    else:
        yield "Nothing to train or score."
    if plan.edits:
        yield from _effects(plan)
    else:
        yield f"{pluralize(plan.due, 'artifact')} to make." if plan.due else "All artifacts are up to date."


def _effects(plan: WorkPlan) -> Iterator[str]:
    """Yield sentences about what edits change."""
    if not plan.changes_runs:
        yield "The edit changes no run."
    if plan.dropped:
        runs = pluralize(plan.dropped, "run")
        yield f"No longer needed: {runs}. `recompose store prune` removes those that no profile needs."
    if unrelated := sum(not item.new for item in plan.to_make):
        yield f"Without the edit, {unrelated} of these jobs would be left, too."
    if plan.changed:
        cells = pluralize(sum(plan.changed.values()), "cell")
        yield f"{pluralize(len(plan.changed), 'artifact')} would change, with {cells} of the present reports:"
        yield f"  {', '.join(first((f'{name} ({cells})' for name, cells in plan.changed.items()), MOST))}"


def _total(plan: WorkPlan) -> Iterator[str]:
    """Yield sentences about the total time that is left, as far as it is known, and the basis of the estimates."""
    estimates = [(item.estimate, item.gpus) for item in plan.to_make if item.estimate]
    if not estimates:
        return
    text = f"{'At least' if plan.left.unknown else 'About'} {rough_duration(plan.left.seconds)} left"
    text += f" on {pluralize(usable_cores(), 'core')}"
    if gpu_seconds := sum(estimate.seconds * gpus for estimate, gpus in estimates):
        memory = max((estimate.memory or 0 for estimate, _ in estimates), default=0)
        at_most = f", at most {gibibytes(memory)} of GPU memory" if memory else ""
        text += f" and one GPU ({gpu_seconds / 3600:,.1f} GPU-hours){at_most}"
    yield f"{text}, plus artifacts."
    machines = dict.fromkeys(name for estimate, _ in estimates for name in estimate.where)
    similar = sum(estimate.basis == SIMILAR for estimate, _ in estimates)
    note = f"; {similar} of {len(estimates)} from similar jobs alone" if similar else ""
    yield f"Estimated from jobs on {'; '.join(first(machines, MOST)) or 'unknown machines'}{note}."
