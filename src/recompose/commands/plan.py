"""`recompose plan`: the work that is left, or that an edit of params.yaml would cause. Nothing is made or edited."""

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.commands.status import needed_by
from recompose.console import clock_duration, first, gibibytes, line, new_table, pluralize, print_json, rough_duration
from recompose.costs import BASES, MEASURED, SIMILAR, UNKNOWN, CostEstimate, Costs, TimeLeft, time_left
from recompose.papers.declaration import CLAIMS, Paper
from recompose.phases import PHASES, TRAINED, gpus_of, threads_of
from recompose.plan import Plan, Recipe
from recompose.progress import printable
from recompose.tables.cells import Cell
from recompose.tables.due import artifact_recipes, is_due
from recompose.tables.kinds import kind_of
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace

WORDS = {MEASURED: "measured", SIMILAR: "similar jobs"}  # about the basis of estimates
MOST = 6  # names that a sentence lists


@dataclass(frozen=True)
class PlannedItem:
    """A recipe that the parameters ask for, with its state and estimate."""

    kind: str
    folder: str
    digest: str
    title: str
    method: str  # the recipe's name where it is no run
    dataset: str
    name: str  # of the method or the variant; the method where it is no run
    papers: tuple[str, ...]  # that need a run or an evaluation
    new: bool  # true where only the edited parameters ask for it
    there: bool  # complete in its store
    estimate: CostEstimate | None
    threads: int = 1
    gpus: int = 0


@dataclass(frozen=True)
class ChangedArtifact:
    """An artifact that would change."""

    artifact: str  # <paper>/<name>
    kind: str  # table, figure or claims
    cells: int | None  # that would change; None: the artifact is not made yet
    claims: int


@dataclass(frozen=True)
class WorkPlan:
    """Everything that a profile asks for, and the work and the changes that follow from edits, or from what is left."""

    profile: str
    edits: tuple[str, ...]
    notes: list[str]
    items: list[PlannedItem]
    left: TimeLeft
    dropped: int  # runs that the edited parameters no longer ask for
    artifacts: list[ChangedArtifact]
    due: int  # artifacts to make where all work is done

    @property
    def runs(self) -> list[PlannedItem]:
        """The runs."""
        return [item for item in self.items if item.kind == "runs"]

    @property
    def to_make(self) -> list[PlannedItem]:
        """The items that a workflow would make."""
        return [item for item in self.items if not item.there]

    @property
    def core_seconds(self) -> float:
        """The time of all cores together."""
        return sum(item.estimate.seconds * item.threads for item in self.to_make if item.estimate)

    @property
    def gpu_seconds(self) -> float:
        """The time of all GPUs together."""
        return sum(item.estimate.seconds * item.gpus for item in self.to_make if item.estimate)

    @property
    def changes_runs(self) -> bool:
        """True where the edits add or drop a run."""
        return bool(self.dropped) or any(run.new for run in self.runs)

    def grouped(self, key: Callable[[PlannedItem], Hashable]) -> list[list[PlannedItem]]:
        """Return runs and evaluations in groups that share a key."""
        groups: dict[Hashable, list[PlannedItem]] = {}
        for item in self.items:
            if item.kind in TRAINED:
                groups.setdefault(key(item), []).append(item)
        return [*groups.values()]

    def document(self) -> dict[str, object]:
        """Return the plan as plain values."""
        return {
            "profile": self.profile,
            "groups": [_group_document(members) for members in self.grouped(_by_method)],
            "runs": [asdict(run) for run in self.runs if run.new or not run.there],
            "steps": [asdict(item) for item in self.to_make if item.kind != "runs"],
            "core_seconds": self.core_seconds,
            "gpu_seconds": self.gpu_seconds,
            "wall_seconds": self.left.seconds,
            "memory": peak_memory(self.to_make),
            "unmeasured": self.left.unknown,
            "edits": list(self.edits),
            "notes": self.notes,
            "changes_runs": self.changes_runs,
            "dropped_runs": self.dropped,
            "artifacts": [asdict(artifact) for artifact in self.artifacts],
        }


def _by_method(item: PlannedItem) -> Hashable:
    return item.papers, item.method, item.dataset


def _group_document(members: list[PlannedItem]) -> dict[str, object]:
    missing = [item for item in members if not item.there]
    bases = Counter(item.estimate.basis if item.estimate else UNKNOWN for item in missing)
    return {
        "papers": list(members[0].papers),
        "methods": distinct(item.method for item in members),
        "variants": variants(members),
        "datasets": distinct(item.dataset for item in members),
        **{kind: _tally([item for item in members if item.kind == kind]) for kind in TRAINED},
        "seconds": sum(item.estimate.seconds for item in missing if item.estimate),
        "memory": peak_memory(missing),
        "bases": {basis: bases[basis] for basis in BASES if bases[basis]},
    }


def _tally(items: list[PlannedItem]) -> dict[str, int]:
    there, new = (sum(getattr(item, name) for item in items) for name in ("there", "new"))
    return {"asked": len(items), "there": there, "new": new}


def distinct(names: Iterable[str]) -> list[str]:
    """Return each name once, in order."""
    return list(dict.fromkeys(names))


def variants(members: Iterable[PlannedItem]) -> list[str]:
    """Return the variants of methods among items."""
    return distinct(item.name for item in members if item.name != item.method)


def peak_memory(items: Iterable[PlannedItem]) -> int | None:
    """Return the largest memory of items in bytes; None: unknown."""
    memories = [item.estimate.memory for item in items if item.estimate and item.estimate.memory is not None]
    return max(memories, default=None)


def work_plan(root: Path, edits: tuple[str, ...] = ()) -> WorkPlan:
    """Return the work that edits of params.yaml cause, each written ``path=value``; without edits, what is left.

    Raises:
        ParamsError: an edit does not fit into params.yaml.
    """
    after = Workspace(root, edits)
    before = Workspace(root) if edits else after
    costs, recipes = Costs.of(after, after.plan), artifact_recipes(after)
    runs = {run.digest for run in after.plan.of("runs")}
    due = (
        is_due(after, paper, name, recipes[f"{paper.name}/{name}"])
        for paper in after.papers
        for name in paper.artifacts
    )
    return WorkPlan(
        after.params.profile,
        edits,
        list(_overridden_edits(after)),
        planned_items(after, costs, {recipe.digest for recipe in before.plan.recipes}),
        time_left(after, costs, after.missing(after.plan.recipes)),
        sum(run.digest not in runs for run in before.plan.of("runs")),
        list(_changed_artifacts(after, plan_difference(before.plan, after.plan) if edits else _missing_results(after))),
        sum(due),
    )


def planned_items(work: Workspace, costs: Costs, planned: set[str]) -> list[PlannedItem]:
    """Return everything that a workspace asks for.

    Args:
        work: the workspace.
        costs: of everything that was made.
        planned: the digests of the recipes before an edit; all others are new.
    """
    by_paper = {paper.name: needed_by(work.plan, paper) for paper in work.papers}

    def item(recipe: Recipe) -> PlannedItem:
        there = work.store.is_complete(recipe)
        method = str(recipe.labels.get("method", recipe.name))
        return PlannedItem(
            recipe.kind,
            recipe.folder,
            recipe.digest,
            recipe.name,
            method,
            str(recipe.labels.get("dataset", "")) if "method" in recipe.labels else "",
            str(recipe.labels.get("name", method)),
            tuple(name for name, digests in by_paper.items() if recipe.digest in digests),
            recipe.digest not in planned,
            there,
            None if there else costs.estimate(recipe),
            threads_of(work, recipe),
            gpus_of(work, [recipe]),
        )

    return [item(recipe) for recipe in work.plan.recipes]


def _overridden_edits(after: Workspace) -> Iterator[str]:
    """Yield a note for each edit of a value that the profile overrides."""
    for edit in after.edits:
        path = edit.partition("=")[0]
        for key in after.params.chosen.override:
            if path == key or path.startswith(f"{key}.") or key.startswith(f"{path}."):
                yield f"profiles.{after.params.profile}.override sets {key}, which hides {path}"


@dataclass(frozen=True)
class PlanDifference:
    """The inputs of artifacts that differ between two plans."""

    evaluations: set[tuple[str, str, str]]  # track, method or variant, benchmark
    data: set[tuple[str, str]]  # track, benchmark


def plan_difference(before: Plan, after: Plan) -> PlanDifference:
    """Return the evaluations and benchmarks that stand for other recipes in the second plan."""
    keys = _evaluation_keys(before) | _evaluation_keys(after)
    old, new = _benchmarks(before), _benchmarks(after)
    return PlanDifference(
        {key for key in keys if _digests(before.evaluations(*key)) != _digests(after.evaluations(*key))},
        {name for name in old | new if _digests(old.get(name, [])) != _digests(new.get(name, []))},
    )


def _missing_results(work: Workspace) -> PlanDifference:
    """Return the planned evaluations and benchmarks that are not complete."""
    plan = work.plan
    return PlanDifference(
        {key for key in _evaluation_keys(plan) if work.missing(plan.evaluations(*key))},
        {name for name, data in _benchmarks(plan).items() if work.missing(data)},
    )


def _evaluation_keys(plan: Plan) -> set[tuple[str, str, str]]:
    return {(track, *key) for track, section in plan.tracks.items() for key in section.evaluations}


def _benchmarks(plan: Plan) -> dict[tuple[str, str], list[Recipe]]:
    return {
        (track, name): [data] for track, section in plan.tracks.items() for name, data in section.benchmarks.items()
    }


def _digests(recipes: list[Recipe]) -> list[str]:
    return [recipe.digest for recipe in recipes]


def _changed_artifacts(work: Workspace, difference: PlanDifference) -> Iterator[ChangedArtifact]:
    """Yield the artifacts that use any of it, with the number of their cells that do where they are made already: those
    of the profile's papers, and those that other papers have.
    """
    published, chosen = PublishedLineage.read(work.reports, work.declared), {paper.name for paper in work.papers}
    for paper in work.declared:
        for name, artifact in paper.artifacts.items():
            key = f"{paper.name}/{name}"
            kind = kind_of(paper, name)
            if key in published.lineages:
                cells = changed_cells(paper.track, published.cells(key), difference)
                rows = {cell.row for cell in cells} if artifact.kind == CLAIMS else set()
                if cells or _declares(paper, name, difference):
                    yield ChangedArtifact(key, kind, len(cells), len(rows))
            elif paper.name in chosen and _declares(paper, name, difference):
                yield ChangedArtifact(key, kind, None, 0)


def _declares(paper: Paper, artifact: str, difference: PlanDifference) -> bool:
    """Return true where an artifact's declaration names anything that differs."""
    methods = paper.methods_of(artifact)
    differing_methods = {name for track, name, _ in difference.evaluations if track == paper.track}
    data = any(track == paper.track for track, _ in difference.data)
    return bool(methods & differing_methods) or (not methods and data)


def changed_cells(track: str, cells: Iterable[Cell], difference: PlanDifference) -> list[Cell]:
    """Return the cells of an artifact that use anything that differs."""
    return [
        cell
        for cell in cells
        if any((track, name, cell.benchmark) in difference.evaluations for name in cell.names)
        or (not cell.names and (track, cell.benchmark) in difference.data)
    ]


def show_plan(root: Path, edits: tuple[str, ...], *, every: bool, as_json: bool) -> None:
    """Print what the parameters ask for, which part of it is complete, and the time that is left.

    Args:
        root: the folder of params.yaml.
        edits: the edits; the tables then show only what is new or left.
        every: a row for each method and data set, and for each step before runs.
        as_json: print JSON.
    """
    plan, console = work_plan(root, edits), Console()
    if as_json:
        print_json(plan.document())
        return
    console.print(line((" with ".join([f"profile {plan.profile}", *plan.edits]), "bold")))
    if plan.left.unknown:
        console.print(line(missing_estimates(plan)))
    for table in [*([steps_table(plan)] if every else ()), groups_table(plan, every=every)]:
        if table.row_count:
            console.print(table)
    for sentence in sentences(plan, every=every):
        console.print(line(sentence))


def missing_estimates(plan: WorkPlan) -> str:
    """Return a sentence about the jobs whose time is unknown, by kind."""
    kinds = Counter(item.kind for item in plan.to_make if item.estimate is None)
    counts = ", ".join(pluralize(kinds[kind], kind.removesuffix("s"), kind) for kind in PHASES if kinds[kind])
    unknown = f"{plan.left.unknown} of {len(plan.to_make)} jobs"
    return f"Unknown: the time of {unknown} ({counts}), as nothing like them was made."


def groups_table(plan: WorkPlan, *, every: bool) -> Table:
    """Return a table of the runs and evaluations, the complete ones among them, and the time that is left.

    Args:
        plan: the work; after edits, rows are left out where nothing is new or left, and a column counts what is new.
        every: a row for each method and data set, instead of one for all that the same papers need.
    """
    groups = plan.grouped(_by_method if every else lambda item: item.papers)
    has_memory = plan.gpu_seconds > 0 and peak_memory(plan.to_make) is not None
    numbers = (*TRAINED, *(["new"] if plan.edits else ()), "time left", *(["memory"] if has_memory else ()))
    table = new_table(("papers", "methods", "data sets"), numbers)
    for members in groups:
        if not _is_shown(plan, members):
            continue
        missing = [item for item in members if not item.there]
        datasets = distinct(item.dataset for item in members)
        cells = [", ".join(members[0].papers) or "no paper", _methods(members), _name_or_count(datasets)]
        cells += [completeness(item for item in members if item.kind == kind) for kind in TRAINED]
        cells += [str(sum(item.new for item in members))] if plan.edits else []
        cells += [duration(missing), *([gibibytes(peak_memory(missing))] * has_memory)]
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _is_shown(plan: WorkPlan, items: Iterable[PlannedItem]) -> bool:
    return not plan.edits or any(item.new or not item.there for item in items)


def _methods(members: list[PlannedItem]) -> str:
    text = _name_or_count(distinct(item.method for item in members))
    return f"{text} + {pluralize(len(variants(members)), 'variant')}" if variants(members) else text


def _name_or_count(names: list[str]) -> str:
    return names[0] if len(names) == 1 else str(len(names))


def completeness(items: Iterable[PlannedItem]) -> str:
    """Return the number of complete items, as in "3 of 5"; empty without items."""
    there = [item.there for item in items]
    return f"{sum(there)} of {len(there)}" if there else ""


def duration(items: list[PlannedItem]) -> str:
    """Return the time that items take one after another, marked where estimates are missing; empty without items."""
    known = [item.estimate.seconds for item in items if item.estimate]
    if not known:
        return UNKNOWN if items else ""
    return f"{'> ' if len(known) < len(items) else ''}{rough_duration(sum(known))}"


def steps_table(plan: WorkPlan) -> Table:
    """Return a table of the steps before runs, with one row for all of a name; after edits, of what is new or left."""
    by_name: dict[tuple[str, str], list[PlannedItem]] = {}
    for item in plan.items:
        if item.kind not in TRAINED:
            by_name.setdefault((item.kind, item.title), []).append(item)
    table = new_table(("phase", "step"), ("complete", "time left"))
    for (kind, title), items in by_name.items():
        if _is_shown(plan, items):
            missing = [item for item in items if not item.there]
            table.add_row(kind, Text(printable(title)), completeness(items), duration(missing))
    return table


def sentences(plan: WorkPlan, *, every: bool = False) -> Iterator[str]:
    """Yield the sentences below the tables."""
    yield from plan.notes
    if plan.edits and not plan.changes_runs:
        yield "The edit changes no run."
    if plan.dropped:
        yield (
            f"No longer needed: {pluralize(plan.dropped, 'run')}. `recompose store prune` removes those that no "
            f"profile needs."
        )
    if plan.to_make:
        yield from _work(plan, every=every)
    elif plan.edits:
        yield "Nothing to make."
    else:
        due = f"{pluralize(plan.due, 'artifact')} to make." if plan.due else "All artifacts are up to date."
        yield f"Nothing to train or score. {due}"


def _work(plan: WorkPlan, *, every: bool) -> Iterator[str]:
    missing = plan.to_make
    if not every and any(item.kind not in TRAINED for item in missing):
        steps = ((kind, completeness(item for item in plan.items if item.kind == kind)) for kind in PHASES)
        counts = ", ".join(f"{kind} {count}" for kind, count in steps if count and kind not in TRAINED)
        yield f"Steps before runs: {counts}."
    runs, evaluations = (sum(item.kind == kind for item in missing) for kind in TRAINED)
    yield f"{pluralize(runs, 'run')} to train and {pluralize(evaluations, 'evaluation')} to score."
    yield from total(plan)
    if unrelated := sum(not item.new for item in missing) if plan.edits else 0:
        yield f"{unrelated} of these jobs would be left without the edit as well."
    yield from _artifacts(plan)
    if not every:
        yield "`recompose plan --all` shows each method, data set and step."


def total(plan: WorkPlan) -> Iterator[str]:
    """Yield sentences about the total time that is left, as far as it is known, and the basis of the estimates."""
    estimates = [item.estimate for item in plan.to_make if item.estimate]
    if not estimates:
        return
    unknown, memory = plan.left.unknown, peak_memory(plan.to_make)
    cores = pluralize(os.cpu_count() or 1, "core")
    text = f"{'At least' if unknown else 'About'} {clock_duration(plan.left.seconds)} (h:mm) left on {cores}"
    if plan.gpu_seconds:
        hours = plan.gpu_seconds / 3600
        text += f" and one GPU ({hours:,.{0 if hours >= 100 else 1}f} GPU-hours)"
        text += f", at most {gibibytes(memory)} of GPU memory" if memory is not None else ""
    yield f"{text}{f', for {len(estimates)} jobs alone' if unknown else ', plus artifacts'}."
    whole = sum(estimate.seconds for estimate in estimates)
    for basis, word in WORDS.items():
        members = [estimate for estimate in estimates if estimate.basis == basis]
        if members:
            share = sum(estimate.seconds for estimate in members) / whole if whole else 1.0
            part = "" if len(members) == len(estimates) else f" {share:.0%} of the time,"
            machines = distinct(name for estimate in members for name in estimate.where)
            yield f"Basis:{part} {word} on {'; '.join(first(machines, MOST))}."


def _artifacts(plan: WorkPlan) -> Iterator[str]:
    artifacts = plan.artifacts
    if not artifacts:
        return
    figures = sum(artifact.kind == "figure" for artifact in artifacts)
    text = f"{pluralize(len(artifacts), 'artifact')} would {'change' if plan.edits else 'be made'}"
    text += f", {pluralize(figures, 'figure')} among them" if figures else ""
    cells, claims = (sum(getattr(artifact, name) or 0 for artifact in artifacts) for name in ("cells", "claims"))
    counts = [pluralize(number, noun) for number, noun in ((cells, "cell"), (claims, "claim")) if number]
    yield f"{text}: {', '.join(counts)}." if counts else f"{text}."
    if plan.edits:
        titles = (f"{each.artifact} ({each.cells})" if each.cells else each.artifact for each in artifacts)
        yield f"  {', '.join(first(titles, MOST))}"
