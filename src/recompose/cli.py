"""The command line: one thin subcommand per phase, and what people ask of the results."""

import errno
import gc
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from recompose.errors import ChangedError, DamagedError, RecomposeError
from recompose.interrupts import INTERRUPTED, end_at_once
from recompose.papers.declaration import all_papers
from recompose.phases import PHASES
from recompose.plan import closure
from recompose.progress import be_quiet, say
from recompose.workspace import Workspace

app = typer.Typer(
    help="Rebuild the tables and figures of papers, and trace every number to its runs.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",  # joins the lines of a paragraph
    pretty_exceptions_enable=False,
)
store_app = typer.Typer(help="Look after results/: what is complete, damaged, or needed no more.", no_args_is_help=True)
app.add_typer(store_app, name="store")

Receipt = Annotated[Path | None, typer.Option(help="Where to state that it is made.", hidden=True)]
T = TypeVar("T")
REMEDIES = {  # of what the file system refuses
    errno.EACCES: "this user may not use it; let them, or work in a clone of their own",
    errno.EROFS: "work in a clone on a file system that can be written",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room; what is whole is kept, and the same command goes on"),
}
ArtifactFile = Annotated[Path, typer.Argument(help="An artifact, such as msci/table-2, or a file of it.")]
Row = Annotated[str, typer.Option(help="The row's name, such as CSP.")]
Column = Annotated[str, typer.Option(help='The column\'s name, such as "shapes-pairs AUC".')]
View = Annotated[str | None, typer.Option(help="The way of measuring, where a table has several; the first.")]
JSON = Annotated[bool, typer.Option("--json", help="Write JSON instead of text.")]
All = Annotated[bool, typer.Option("--all", help="A line for each method, data set and step.")]


_prepared: list[tuple[Workspace, str]] = []  # the workspace that a server has planned, and its params.yaml


def prepare_workspace() -> None:
    """Plan once, for the commands of all processes that are forked from this one.

    Raises:
        RecomposeError: params.yaml or a paper is wrong.
    """
    work = Workspace(Path.cwd())
    text = (work.root / "params.yaml").read_text(encoding="utf-8")
    _ = [recipe.key for recipe in work.plan.by_key.values()]  # sources are read and digested
    _prepared[:] = [(work, text)]


def _workspace() -> Workspace:
    """Return the workspace of this folder, planned already where this process was forked from one that did."""
    here = Path.cwd()
    for work, text in _prepared:
        if work.root == here and (here / "params.yaml").read_text(encoding="utf-8") == text:
            return work
    return Workspace(here)


@app.command()
def make(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="What to make: KIND/FOLDER below results/, or the first characters of a digest."),
    ] = None,
    job: Annotated[str | None, typer.Option(help="A job of a workflow, which says what to make.", hidden=True)] = None,
    receipt: Receipt = None,
) -> None:
    """Make stored things, with all that they need, where they are not complete: data, backbones, features, grids,
    pixels, runs, evaluations.
    """
    from recompose import phases
    from recompose.engine import Engine

    end_at_once()
    work = _workspace()
    if job:
        engine = Engine(work)
        be_quiet()
        keys = engine.job(job).keys
        if gone := [key for key in keys if key not in work.plan.by_key]:
            raise ChangedError(
                f"{gone[0]} is not in the plan any more: params.yaml or the code changed since the workflow "
                f"started; start it again"
            )
        recipes = [work.plan.by_key[key] for key in keys]
    else:
        recipes = list(closure(work.recipe(name) for name in names or []))
    phases.make(work, recipes)
    if job and receipt and not phases.is_helper():
        engine.receipts.write(work.root / receipt, [work.store.record_path(recipe) for recipe in recipes])


@app.command()
def artifacts(
    name: Annotated[str, typer.Argument(help="A paper, such as msci, or one of its artifacts, such as msci/table-2.")],
    receipt: Receipt = None,
) -> None:
    """Make the tables and figures of a paper, or one of them, from what is stored."""
    from recompose.engine import Engine
    from recompose.report.artifacts import make_artifacts
    from recompose.report.kinds import artifact_files
    from recompose.report.results import Results

    end_at_once()
    work = _workspace()
    paper, _, artifact = name.partition("/")
    declared = _one_of("paper", paper, {each.name: each for each in work.papers})
    artifact and _one_of(f"artifact of {paper}", artifact, declared.artifacts)
    wanted = [artifact] if artifact else list(declared.artifacts)
    make_artifacts(Results(work), declared, wanted)
    engine = Engine(work)
    engine.receipts.write_artifacts(declared, wanted)
    if receipt:
        files = [work.reports / paper / file for each in wanted for file in artifact_files(declared, each)]
        needs = {need.key: need for each in wanted for need in engine.artifacts[paper, each].needs.values()}
        engine.receipts.write(work.root / receipt, files, needs.values())


@app.command()
def report(
    receipt: Receipt = None,
    to_come: Annotated[
        list[str] | None, typer.Option(help="A paper whose artifacts are being made.", hidden=True)
    ] = None,
) -> None:
    """Write the report site, the index for code hosts and the metrics that DVC compares."""
    from recompose.engine import Engine
    from recompose.provenance.audit import audit_artifacts
    from recompose.report.index import write_index
    from recompose.report.published import PublishedLineage
    from recompose.report.results import Results
    from recompose.site.build import page
    from recompose.site.document import Site

    end_at_once()
    work = _workspace()
    papers = work.papers
    published = PublishedLineage.checked(work.reports, papers)
    gc.freeze()  # lineages stay to the end, too
    audited = audit_artifacts(work, papers, published)
    site = Site(papers, published, audited, work.params, tuple(to_come or ()))
    files = write_index(Results(work), papers, published, page(site, work.reports))
    say(f"{work.reports_place}/index.html is written; the audit {audited.verdict}")
    if receipt:
        Engine(work).receipts.write(work.root / receipt, [work.reports / name for name in files])


@app.command()
def parameters(
    schema: Annotated[bool, typer.Option("--schema", help="The JSON schema of params.yaml instead.")] = False,
) -> None:
    """Say of every parameter what it means and what it may be."""
    from recompose.params import json_schema, reference
    from recompose.tracks import FORMS

    print(json.dumps(json_schema(FORMS), indent=2) if schema else reference(FORMS))


@app.command()
def evaluate(
    model: Annotated[str, typer.Option(help="An architecture, of open_clip or ours, such as ViT-B-32.")],
    weights: Annotated[
        str,
        typer.Option(help="A file, a tag of open_clip, such as openai, or a folder results/runs/... of a run of ours."),
    ],
    suites: Annotated[str, typer.Option(help="Names of suites with commas between them; all: those that are there.")],
    out: Annotated[Path, typer.Option(help="The folder that results go to; a killed evaluation goes on there.")],
    data: Annotated[Path, typer.Option(help="The folder of the suites' raw files.")] = Path("data/vlc"),
    batch_size: Annotated[int, typer.Option(min=1, help="Images or texts that are encoded at a time.")] = 256,
    precision: Annotated[str, typer.Option(help="fp32, fp16, bf16; auto: fp16 on a GPU, fp32 elsewhere.")] = "auto",
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1; auto: a GPU where there is one.")] = "auto",
    activation: Annotated[
        str, typer.Option(help="gelu, quick_gelu; auto: what the weights are known to be trained with.")
    ] = "auto",
    alpha: Annotated[
        float, typer.Option(min=0, max=1, help="Of a run of ours: the share of what training left (WiSE-FT).")
    ] = 1.0,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out, and count, what shows images that cannot be read.")
    ] = False,
) -> None:
    """Evaluate any CLIP on suites of images and texts, outside of any paper: prints a table, and writes scores.csv,
    results.json and the scores themselves.
    """
    from recompose.terminal.evaluate import show_evaluation
    from recompose.tracks.track import function

    request = function("recompose.tracks.vlc.harness:Request")(
        model=model,
        weights=weights,
        suites=tuple(name.strip() for name in suites.split(",")),
        data=data,
        out=out,
        batch_size=batch_size,
        precision=precision,
        device=device,
        activation=activation,
        alpha=alpha,
        skip_broken=skip_broken,
    )
    show_evaluation(Console(), function("recompose.tracks.vlc.harness:evaluate")(request))


@app.command()
def summary(
    began: Annotated[
        float | None, typer.Option(help="When the work began, in seconds since 1970.", hidden=True)
    ] = None,
) -> None:
    """Say in six lines what the reports hold: what was made, how long it took, headline numbers, whether they are such
    that methods can be told apart, the audit, and the page.
    """
    from recompose.terminal.summary import show_summary

    work = _workspace()
    show_summary(Console(), work, work.papers, began)


@app.command()
def plan(every: All = False, as_json: JSON = False) -> None:
    """Say what the parameters ask for, for which papers, what of it is there, and what the rest will take."""
    from recompose.engine import Engine
    from recompose.machine import probe
    from recompose.monitor.work_plan import outlook
    from recompose.terminal.plan import show_plan

    probe()
    engine = Engine(_workspace())
    planned = outlook(engine)
    if as_json:
        print(json.dumps(planned.document(), indent=2))
    else:
        show_plan(Console(), engine, planned, every=every)


@app.command()
def reproduce(
    targets: Annotated[
        list[str] | None,
        typer.Argument(help="What Snakemake is to make, such as msci or reports/demo/msci/table-2.csv; everything."),
    ] = None,
) -> None:
    """Make what is missing with Snakemake, and show how far each paper is, what trains, and numbers as they come."""
    from recompose.engine import Engine
    from recompose.machine import probe
    from recompose.monitor.reproduction import Reproduction
    from recompose.monitor.snakemake_call import LOG, SnakemakeCall
    from recompose.monitor.work_plan import outlook
    from recompose.terminal.live import follow, show_opening

    probe()  # times are told, and records keep, in terms of this machine
    engine, console = Engine(_workspace()), Console()
    reproduction = Reproduction(engine, targets or (), outlook(engine).wall_share)
    show_opening(console, reproduction, Path("results") / LOG)
    raise typer.Exit(follow(console, reproduction, SnakemakeCall(Path.cwd(), Path("results"), targets or ())))


@app.command()
def timing(
    methods: Annotated[
        list[str] | None, typer.Argument(help="Methods, such as msci; all not timed on this machine yet.")
    ] = None,
) -> None:
    """Train each method for a few steps on each data set with each backbone, on noise, and write down what that takes:
    `plan`, `cost` and `doctor` then tell time and memory of what was never run. It needs no data and no weights.
    """
    from recompose.monitor.timing_runs import representatives, time_runs
    from recompose.terminal.timing import line, verdict

    work = _workspace()
    be_quiet()
    for method in methods or ():
        _one_of("method", method, {str(run.labels["method"]): run for run in work.plan.of("runs")})
    outcomes = []
    for outcome in time_runs(work, representatives(work, methods or ())):
        outcomes.append(outcome)
        say(line(outcome))
    print(verdict(outcomes))
    raise typer.Exit(1 if any(outcome.timing is None for outcome in outcomes) else 0)


@app.command()
def doctor(as_json: JSON = False) -> None:
    """Look at this machine before any work: Python, packages, GPUs and their memory, disk, data and weights with their
    checksums, scheduler; ends with an error where something would stop the chosen profile, and says what to do.
    """
    from recompose.monitor.doctor import STOPS, Machine, examine
    from recompose.terminal.doctor import show_doctor

    checks = examine(_workspace(), Machine.here())
    if as_json:
        print(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        show_doctor(Console(), checks)
    raise typer.Exit(1 if any(check.state == STOPS for check in checks) else 0)


@app.command()
def status(
    watch: Annotated[bool, typer.Option("--watch", help="Go on showing it until nothing runs or waits.")] = False,
    as_json: JSON = False,
) -> None:
    """Say how the runs stand and how far they are; ends with an error where one failed or is damaged."""
    from recompose.machine import probe
    from recompose.monitor.status import Observer
    from recompose.terminal import status as terminal

    probe()
    if watch and as_json:
        raise typer.BadParameter("--json is one document: ask for it without --watch, as often as you like")
    work = _workspace()
    console, observer = Console(), Observer(work, work.papers)
    now = terminal.watch(console, observer) if watch else observer.look()
    if as_json:
        print(json.dumps(now.document(), indent=2))
    elif not watch:
        console.print(terminal.rendered(now))
    raise typer.Exit(0 if now.fine else 1)


@app.command()
def cost(
    edits: Annotated[
        list[str] | None,
        typer.Option(
            "--edit", help="PATH=VALUE of params.yaml, such as czsl.methods.csp.training.lr=0.01; may be repeated."
        ),
    ] = None,
    every: All = False,
    as_json: JSON = False,
) -> None:
    """Say what is left to make, or would be after edits of params.yaml, and what it takes; makes and edits nothing."""
    from recompose.machine import probe
    from recompose.monitor.edit_impact import consequences
    from recompose.terminal.cost import show_cost

    probe()
    costs = consequences(Path.cwd(), tuple(edits or ()))
    if as_json:
        print(json.dumps(costs.document(), indent=2))
    else:
        show_cost(Console(), costs, every=every)


@app.command()
def trace(
    artifact: ArtifactFile,
    row: Row,
    column: Column,
    view: View = None,
    as_json: JSON = False,
) -> None:
    """Say what made a number, from what, where, at what cost, and whether it still holds; every file behind it is
    verified.
    """
    from recompose.provenance.trace import trace as trace_cell
    from recompose.terminal.lineage import show_trace

    work = _workspace()
    artifact = work.artifact_path(artifact)
    traced = trace_cell(work, artifact, row, column, view)
    if as_json:
        print(json.dumps(asdict(traced), indent=2))
    else:
        show_trace(Console(), work, artifact, traced)


@app.command()
def audit(
    as_json: JSON = False,
    against: Annotated[
        str | None, typer.Option(help="A git revision, such as HEAD: compare every number with itself there, instead.")
    ] = None,
) -> None:
    """Check that everything the reports show follows from evaluations, and that these are the ones asked for now.

    Every number is taken anew from stored scores, every file is read and compared with its digest, and everything
    stored with the current parameters, code and inputs. Ends with an error where something does not hold. Without
    results/ it checks what can be checked, and says what cannot.
    """
    from recompose.provenance.audit import audit as audit_all
    from recompose.provenance.audit import audit_document
    from recompose.provenance.compare_revisions import compare
    from recompose.report.published import PublishedLineage
    from recompose.terminal.audit import show_audit, show_comparison

    work = _workspace()
    papers = work.papers
    if against:
        comparison = compare(work.reports, papers, against)
        if as_json:
            print(json.dumps(asdict(comparison) | {"same": comparison.same}, indent=2))
        else:
            show_comparison(Console(), comparison)
        raise typer.Exit(0 if comparison.same else 1)
    published = PublishedLineage.checked(work.reports, papers)
    gc.freeze()  # lineages stay to the end, too
    audited = audit_all(work, papers, published)
    if as_json:
        print(json.dumps(audit_document(audited, published), indent=2))
    else:
        show_audit(Console(), audited, published)
    raise typer.Exit(0 if audited.report.clean else 1)


@app.command()
def downstream(
    run: Annotated[
        str, typer.Argument(help="The first characters of a digest, or of a place below results/, such as runs/0123.")
    ],
    as_json: JSON = False,
) -> None:
    """Say which cells, figures and claims of the reports a run, an evaluation, a data set or a backbone reaches."""
    from recompose.provenance.downstream import downstream as reached_from
    from recompose.report.published import PublishedLineage
    from recompose.terminal.lineage import show_downstream

    papers = all_papers()
    reached = reached_from(PublishedLineage.of(_workspace().reports, papers), papers, run)
    if as_json:
        print(json.dumps(asdict(reached), indent=2))
    else:
        show_downstream(Console(), reached)


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

    artifact = _workspace().artifact_path(artifact)
    changes = diff_cell(artifact, revision, row, column, view)
    if as_json:
        print(json.dumps(asdict(changes) | {"same_runs": changes.same_runs, "changed": changes.changed}, indent=2))
    else:
        show_diff(Console(), artifact, changes)


@app.command()
def crate(
    folder: Annotated[Path, typer.Argument(help="Where to write it; an older crate is replaced.")] = Path(
        "results/crate"
    ),
) -> None:
    """Write the reports with their lineage as an RO-Crate, the form in which other tools read provenance."""
    from recompose.provenance.crate import write_crate

    work = _workspace()
    write_crate(work.root, folder, all_papers(), work.reports_place)
    say(f"{folder} conforms to Provenance Run Crate 0.5")


@store_app.command()
def prune(dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would go.")] = False) -> None:
    """Remove the runs, grids, features, backbones and indexes that no profile of params.yaml needs any more."""
    work = _workspace()
    keep = [recipe for plan in work.plans for recipe in plan.recipes]
    for key in work.store.prune(PHASES, keep, dry=dry_run):
        say(f"{'would remove' if dry_run else 'removed'} results/{key}")


@store_app.command()
def release(
    name: Annotated[
        str, typer.Argument(help="A backbone that the profile pretrains, such as shapes-clip-from-scratch.")
    ],
    file: Annotated[Path, typer.Argument(help="The file to write, such as assets/shapes-clip.safetensors.")],
) -> None:
    """Write a backbone that was pretrained here as a small file, to be released with the project; prints its digest."""
    from recompose.phases import release_backbone

    print(release_backbone(_workspace(), name, file))


@store_app.command()
def discard(
    name: Annotated[str, typer.Argument(help="KIND/FOLDER below results/, such as runs/0123456789ab.")],
) -> None:
    """Remove one stored thing, so that the next workflow makes it again."""
    work = _workspace()
    work.store.discard(name.removeprefix("results/"))
    say(f"removed results/{name.removeprefix('results/')}")


@store_app.command()
def verify() -> None:
    """Read every stored file that the plan needs and compare it with its record."""
    work = _workspace()
    damaged = 0
    for recipe in work.plan.recipes:
        if work.store.is_complete(recipe):
            try:
                work.store.verify(recipe, reading=True)
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
    """Run the command line. An error that a person can mend is said in its own words; any other keeps its trace. An
    interrupt is none: what it ended says nothing.
    """
    gc.freeze()  # what importing made stays to the end: looking for garbage among it takes a tenth of a short command
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except RecomposeError as error:
        print(f"recompose: {error}", file=sys.stderr)
        sys.exit(1)
    except ModuleNotFoundError as error:
        if not error.name or error.name.partition(".")[0] == "recompose":
            raise
        print(f"recompose: {error.name} is not installed: `make environment` installs what is needed", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        if error.errno not in REMEDIES:
            raise
        place = f"{error.filename}: " if error.filename else ""
        print(f"recompose: {place}{error.strerror}: {REMEDIES[error.errno]}", file=sys.stderr)
        sys.exit(1)
