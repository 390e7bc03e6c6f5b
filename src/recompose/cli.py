"""The command line: one thin subcommand per phase, and what people ask of the results."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from recompose.papers.declaration import PAPERS, artifact_files, load_paper
from recompose.progress import say
from recompose.receipts import write_receipt
from recompose.store import KINDS, DamagedError
from recompose.workspace import Workspace

app = typer.Typer(
    help="Rebuild the tables and figures of five papers, and trace every number to its runs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
store_app = typer.Typer(help="Look after results/: what is complete, damaged, or needed no more.", no_args_is_help=True)
app.add_typer(store_app, name="store")

Receipt = Annotated[Path | None, typer.Option(help="Where to state that it is made.", hidden=True)]
Folder = Annotated[str | None, typer.Option("--expect", help="Stop unless the plan calls it so.", hidden=True)]
T = TypeVar("T")
JSON = Annotated[bool, typer.Option("--json", help="Write JSON instead of text.")]


def _workspace() -> Workspace:
    return Workspace(Path.cwd())


def _receipt(work: Workspace, path: Path | None, files: list[Path]) -> None:
    from recompose.phases import is_helper

    if path and not is_helper():
        write_receipt(work.root / path, work.root, files)


@app.command()
def acquire(dataset: str, receipt: Receipt = None, expect: Folder = None) -> None:
    """Bring a data set onto this disk, check it and index it."""
    from recompose import phases

    work = _workspace()
    recipe = _one_of("data set", dataset, work.plan.datasets)
    work.expect(recipe, expect or recipe.folder)
    phases.acquire(work, dataset)
    _receipt(work, receipt, [work.store("index").record_path(recipe), phases.metadata_path(work, dataset)])


@app.command()
def backbone(name: str, receipt: Receipt = None, expect: Folder = None) -> None:
    """Pretrain a backbone of the profile, or check its released weights."""
    from recompose import phases

    work = _workspace()
    recipe = _one_of("backbone", name, work.plan.backbones)
    work.expect(recipe, expect or recipe.folder)
    phases.make_backbone(work, name)
    _receipt(work, receipt, [work.store("backbones").record_path(recipe)])


@app.command()
def features(dataset: str, backbone: str, receipt: Receipt = None, expect: Folder = None) -> None:
    """Encode the images of a data set once, with a frozen backbone."""
    from recompose import phases

    work = _workspace()
    planned = {f"{of} {by}": recipe for (of, by), recipe in work.plan.features.items()}
    recipe = _one_of("data set with a backbone", f"{dataset} {backbone}", planned)
    work.expect(recipe, expect or recipe.folder)
    phases.cache_features(work, dataset, backbone)
    _receipt(work, receipt, [work.store("features").record_path(recipe)])


@app.command()
def train(
    batch: Annotated[str, typer.Argument(help="A batch of the plan, or the first characters of one run's digest.")],
    receipt: Receipt = None,
) -> None:
    """Train and test the runs of a batch, or one run alone, where they are not complete."""
    from recompose import phases

    work = _workspace()
    chosen = work.batch(batch)
    phases.carry_out(work, chosen)
    _receipt(work, receipt, [work.runs.record_path(run) for run in chosen.runs])


@app.command()
def artifacts(paper: str, receipt: Receipt = None) -> None:
    """Make the tables and figures of a paper from its runs."""
    from recompose.report.artifacts import make_artifacts

    work = _workspace()
    _one_of("paper", paper, dict.fromkeys(PAPERS))
    declared = load_paper(paper)
    make_artifacts(work, declared)
    names = [file for name, artifact in declared.artifacts.items() for file in artifact_files(name, artifact)]
    _receipt(work, receipt, [work.reports / paper / name for name in names])


@app.command()
def report(receipt: Receipt = None) -> None:
    """Write the index of the reports and the metrics that DVC compares."""
    from recompose.report.index import write_curves, write_index, write_metrics

    work = _workspace()
    write_metrics(work)
    write_curves(work)
    write_index(work, [load_paper(name) for name in PAPERS])
    _receipt(work, receipt, [work.reports / name for name in ("README.md", "metrics.json", "curves.csv")])


@app.command()
def plan() -> None:
    """Say what the parameters ask for, what of it is there, and what the rest will take."""
    from recompose.provenance.show import show_plan

    show_plan(Console(), _workspace())


@app.command()
def status(
    watch: Annotated[bool, typer.Option("--watch", help="Go on showing it until nothing runs or waits.")] = False,
    as_json: JSON = False,
) -> None:
    """Say how the runs stand and how far they are; ends with an error where one failed or is damaged."""
    from recompose.provenance import watch as terminal
    from recompose.provenance.status import Observer

    if watch and as_json:
        raise typer.BadParameter("--json is one document: ask for it without --watch, as often as you like")
    console, observer = Console(), Observer(_workspace(), [load_paper(name) for name in PAPERS])
    found = terminal.watch(console, observer) if watch else observer.look()
    if as_json:
        print(json.dumps(found.document(), indent=2))
    elif not watch:
        console.print(terminal.rendered(found))
    raise typer.Exit(0 if found.fine else 1)


@app.command()
def cost(
    edits: Annotated[
        list[str] | None,
        typer.Option("--edit", help="PATH=VALUE of params.yaml, such as methods.csp.lr=0.01; may be repeated."),
    ] = None,
    as_json: JSON = False,
) -> None:
    """Say what is left to make, or would be after edits of params.yaml, and what it takes; makes and edits nothing."""
    from recompose.provenance.changed import consequences
    from recompose.provenance.show_cost import show_cost

    found = consequences(Path.cwd(), tuple(edits or ()))
    if as_json:
        print(json.dumps(found.document(), indent=2))
    else:
        show_cost(Console(), found)


@app.command()
def trace(
    artifact: Annotated[Path, typer.Argument(help="A file of an artifact, such as reports/msci/table-2.csv.")],
    row: Annotated[str, typer.Option(help="The row's name, such as CSP.")],
    column: Annotated[str, typer.Option(help='The column\'s name, such as "shapes-pairs AUC".')],
    view: Annotated[
        str | None, typer.Option(help="The way of measuring, where a table has several; the first.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Say which runs made a number, from what, where, at what cost, and whether it still holds."""
    from recompose.provenance.show import show_trace
    from recompose.provenance.trace import trace as trace_cell

    work = _workspace()
    traced = trace_cell(work, artifact, row, column, view)
    if as_json:
        print(json.dumps(asdict(traced) | {"state": "stale" if traced.stale else "current"}, indent=2))
    else:
        show_trace(Console(), work, artifact, traced)


@store_app.command()
def prune(dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would go.")] = False) -> None:
    """Remove the runs, features, backbones and indexes that no profile of params.yaml needs any more."""
    work = _workspace()
    plans = work.plans
    for kind in KINDS:
        keep = [recipe for plan in plans for recipe in plan.stored()[kind]]
        for name in work.store(kind).prune(keep, dry=dry_run):
            say(f"{'would remove' if dry_run else 'removed'} results/{kind}/{name}")


@store_app.command()
def discard(
    name: Annotated[str, typer.Argument(help="KIND/FOLDER below results/, such as runs/0123456789ab.")],
) -> None:
    """Remove one stored thing, so that the next workflow makes it again."""
    work = _workspace()
    kind, _, folder = name.partition("/")
    _one_of("kind", kind, dict.fromkeys(KINDS))
    work.store(kind).discard(folder)
    say(f"removed results/{name}")


@store_app.command()
def verify() -> None:
    """Read every stored file that the plan needs and compare it with its record."""
    work = _workspace()
    damaged = 0
    for kind, recipes in work.plan.stored().items():
        store = work.store(kind)
        for recipe in recipes:
            if store.is_complete(recipe):
                try:
                    store.verify(recipe)
                except DamagedError as error:
                    damaged += 1
                    print(error)
    print(f"{damaged} damaged" if damaged else "every stored file is as its record says")
    raise typer.Exit(1 if damaged else 0)


def _one_of(what: str, name: str, known: dict[str, T]) -> T:
    if name not in known:
        raise typer.BadParameter(f"there is no {what} '{name}' in this profile; there is: {', '.join(known)}")
    return known[name]


def main() -> None:
    """Run the command line. An error that this package defines is said in its own words; any other keeps its trace."""
    try:
        app()
    except Exception as error:
        if not type(error).__module__.startswith("recompose."):
            raise
        print(f"recompose: {error}", file=sys.stderr)
        sys.exit(1)
