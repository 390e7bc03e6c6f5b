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
    help="Rebuild the tables and figures of papers, and trace every number to its runs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
store_app = typer.Typer(help="Look after results/: what is complete, damaged, or needed no more.", no_args_is_help=True)
app.add_typer(store_app, name="store")

Receipt = Annotated[Path | None, typer.Option(help="Where to state that it is made.", hidden=True)]
Folder = Annotated[str | None, typer.Option("--expect", help="Stop unless the plan calls it so.", hidden=True)]
T = TypeVar("T")
ArtifactFile = Annotated[Path, typer.Argument(help="A file of an artifact, such as reports/msci/table-2.csv.")]
Row = Annotated[str, typer.Option(help="The row's name, such as CSP.")]
Column = Annotated[str, typer.Option(help='The column\'s name, such as "shapes-pairs AUC".')]
View = Annotated[str | None, typer.Option(help="The way of measuring, where a table has several; the first.")]
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
    batches: Annotated[
        list[str], typer.Argument(help="Batches of the plan, or the first characters of single runs' digests.")
    ],
    receipt: Receipt = None,
) -> None:
    """Train and test the runs of batches, or single runs, where they are not complete."""
    from recompose import phases

    work = _workspace()
    chosen = [work.batch(name) for name in batches]
    for batch in chosen:
        phases.carry_out(work, batch)
    _receipt(work, receipt, [work.runs.record_path(run) for batch in chosen for run in batch.runs])


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
    """Write the report site, the index for code hosts and the metrics that DVC compares."""
    from recompose.provenance.audit import audit_artifacts
    from recompose.report.index import FILES, LINEAGE, write_index
    from recompose.report.lineage import SUFFIX
    from recompose.site.build import page, site_of

    work, papers = _workspace(), [load_paper(name) for name in PAPERS]
    found = audit_artifacts(work, papers)
    write_index(work, papers, page(site_of(work, papers, found), work.reports))
    say(f"reports/index.html is written; the audit {found.verdict}")
    _receipt(work, receipt, [work.reports / name for name in (*FILES, f"{LINEAGE}{SUFFIX}")])


@app.command()
def plan() -> None:
    """Say what the parameters ask for, what of it is there, and what the rest will take."""
    from recompose.terminal.plan import show_plan

    show_plan(Console(), _workspace())


@app.command()
def status(
    watch: Annotated[bool, typer.Option("--watch", help="Go on showing it until nothing runs or waits.")] = False,
    as_json: JSON = False,
) -> None:
    """Say how the runs stand and how far they are; ends with an error where one failed or is damaged."""
    from recompose.monitor.status import Observer
    from recompose.terminal import status as terminal

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
    from recompose.monitor.changed import consequences
    from recompose.terminal.cost import show_cost

    found = consequences(Path.cwd(), tuple(edits or ()))
    if as_json:
        print(json.dumps(found.document(), indent=2))
    else:
        show_cost(Console(), found)


@app.command()
def trace(
    artifact: ArtifactFile,
    row: Row,
    column: Column,
    view: View = None,
    as_json: JSON = False,
) -> None:
    """Say which runs made a number, from what, where, at what cost, and whether it still holds."""
    from recompose.provenance.trace import trace as trace_cell
    from recompose.terminal.lineage import show_trace

    work = _workspace()
    traced = trace_cell(work, artifact, row, column, view)
    if as_json:
        print(json.dumps(asdict(traced) | {"state": traced.state}, indent=2))
    else:
        show_trace(Console(), work, artifact, traced)


@app.command()
def audit(as_json: JSON = False) -> None:
    """Check that everything the reports show follows from its runs, and that these are the ones asked for now.

    Every number is taken anew from stored scores, every file is compared with its digest, and runs with the current parameters, code and inputs.
    Ends with an error where something does not hold. Without results/ it checks what can be checked, and says what cannot.
    """
    from recompose.provenance.audit import audit as audit_all
    from recompose.provenance.audit import audit_document
    from recompose.report.published import Shown
    from recompose.terminal.audit import show_audit

    work, papers = _workspace(), [load_paper(name) for name in PAPERS]
    found, shown = audit_all(work, papers), Shown.checked(work.reports, papers)
    if as_json:
        print(json.dumps(audit_document(found, shown), indent=2))
    else:
        show_audit(Console(), found, shown)
    raise typer.Exit(0 if found.report.clean else 1)


@app.command()
def where(
    run: Annotated[
        str, typer.Argument(help="The first characters of a run's digest, or of its folder, such as runs/0123.")
    ],
    as_json: JSON = False,
) -> None:
    """Say which cells, figures and claims of the reports a run or a data set reaches."""
    from recompose.provenance.where import where as where_it_goes
    from recompose.report.published import Shown
    from recompose.terminal.lineage import show_where

    papers = [load_paper(name) for name in PAPERS]
    found = where_it_goes(Shown.of(_workspace().reports, papers), papers, run)
    if as_json:
        print(json.dumps(asdict(found), indent=2))
    else:
        show_where(Console(), found)


@app.command()
def diff(
    artifact: ArtifactFile,
    revision: Annotated[str, typer.Argument(help="A git revision, such as HEAD~3; one that starts with - after --.")],
    row: Row,
    column: Column,
    view: View = None,
    as_json: JSON = False,
) -> None:
    """Say what changed in a number since a git revision, and in what it was made from."""
    from recompose.provenance.diff import diff as diff_cell
    from recompose.terminal.lineage import show_diff

    found = diff_cell(artifact, revision, row, column, view)
    if as_json:
        print(json.dumps(asdict(found) | {"same_runs": found.same_runs, "changed": found.changed}, indent=2))
    else:
        show_diff(Console(), artifact, found)


@app.command()
def crate(
    folder: Annotated[Path, typer.Argument(help="Where to write it; an older crate is replaced.")] = Path(
        "results/crate"
    ),
) -> None:
    """Write the reports with their lineage as an RO-Crate, the form in which other tools read provenance."""
    from recompose.provenance.crate import write_crate

    write_crate(Path.cwd(), folder, [load_paper(name) for name in PAPERS])
    say(f"{folder} conforms to Provenance Run Crate 0.5")


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
