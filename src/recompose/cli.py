"""The commands that rebuild papers and answer questions about them: options and exit codes alone."""

import gc
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from recompose.arithmetic import environment_of
from recompose.errors import OtherArithmeticError, RecomposeError, error_text
from recompose.extras import missing_package
from recompose.interrupts import INTERRUPTED, end_at_once
from recompose.options import JSON, Project, flag
from recompose.progress import printable_lines, say
from recompose.workspace import PROFILE

HELP = "Rebuild the tables and figures of papers, and trace every number to its runs."
app = typer.Typer(help=HELP, no_args_is_help=True, pretty_exceptions_enable=False)
MAKE, LOOK, CHECK, EXTEND = "Make", "Look", "Check", "Extend"  # groups of commands in the help
store_app = typer.Typer(help="Maintain results/: commit, discard, prune, release.", no_args_is_help=True)
app.add_typer(store_app, name="store", rich_help_panel=MAKE)


def _artifact_names(incomplete: str) -> list[str]:
    """Return the artifacts that a shell completes: papers first, then the tables and figures of one."""
    from recompose.papers.declaration import all_papers

    papers = {paper.name: paper for paper in all_papers()}
    paper, slash, _ = incomplete.partition("/")
    names = [f"{paper}/{name}" for name in papers[paper].artifacts] if slash and paper in papers else [*papers]
    return [name for name in names if name.startswith(incomplete)]


CellName = Annotated[
    str | None,
    typer.Option(
        "--cell", help="Only the runs behind one number, such as 'reports/demo/msci/table-2#MSCI/shapes-pairs AUC'."
    ),
]


@app.command(rich_help_panel=MAKE)
def make(
    work: Project,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Results to make: KIND/FOLDER below results/, or the first characters of a digest."),
    ] = None,
    cell: CellName = None,
    recipe: Annotated[
        Path | None, typer.Option(help="The record that a workflow asks for, instead of names.", hidden=True)
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Make it anew if it is complete.", hidden=True)] = False,
) -> None:
    """Make results that are not complete (data, backbones, pixels, features, grids, runs, evaluations), and everything
    that they need. With --cell, make what one number needs, and print the number.
    """
    from recompose.commands.make import make_cell, make_for_workflow, make_named

    end_at_once()
    if recipe:
        make_for_workflow(work, recipe, again=again)
    elif cell and names:
        raise typer.BadParameter("--cell makes the results of one number: use it without names")
    elif cell:
        make_cell(work, cell)
    elif names:
        make_named(work, names)
    else:
        raise typer.BadParameter("name results to make, or a number with --cell; `snakemake --cores all` makes all")


@app.command(rich_help_panel=MAKE)
def artifacts(
    work: Project,
    name: Annotated[str, typer.Argument(help="A paper, such as msci, or one of its artifacts, such as msci/table-2.")],
) -> None:
    """Make the tables and figures of a paper, or one of them, from stored results; print its headline number, or the
    differences of a comparison.
    """
    from recompose.commands.artifacts import make_and_show

    end_at_once()
    make_and_show(work, name)


@app.command(rich_help_panel=MAKE)
def report(work: Project) -> None:
    """Write the report site, its index for code hosts, and the metrics that DVC compares."""
    from recompose.commands.report import write_report

    end_at_once()
    write_report(work)


@app.command(rich_help_panel=LOOK)
def parameters(
    work: Project,
    path: Annotated[
        str | None, typer.Argument(help="Keys in params.yaml, such as czsl.methods.csp: show the values below them.")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="The profile of the values, such as study. Default: the chosen one.", envvar=PROFILE),
    ] = None,
    schema: Annotated[bool, flag("--schema", help="Print the JSON schema of params.yaml instead.")] = False,
) -> None:
    """Describe every parameter and its allowed values, also those of plugins. With PATH, show the values that a profile
    uses, each with the file and line that it comes from.
    """
    from recompose.commands.parameters import show_reference, show_values

    if path:
        show_values(work, profile, path)
    else:
        show_reference(work, schema=schema)


@app.command("summary", rich_help_panel=LOOK)
def summarize(work: Project) -> None:
    """Summarize the reports: what was made, its cost, headline numbers, which expectations they meet, the audit, the
    page to open, and how the numbers differ from the last commit.
    """
    from recompose.commands.summary import summary

    summary(work)


@app.command(rich_help_panel=LOOK)
def plan(
    work: Project,
    edits: Annotated[
        list[str] | None,
        typer.Option(
            "--edit", help="PATH=VALUE in params.yaml, such as czsl.methods.csp.training.lr=0.01; repeatable."
        ),
    ] = None,
    as_json: JSON = False,
) -> None:
    """Show the runs and evaluations of each paper, how many are complete, and the time and memory that the others need;
    with --edit, the work that an edit of params.yaml would cause. Nothing is made or edited.
    """
    from recompose.commands.plan import show_plan

    show_plan(work.root, tuple(edits or ()), as_json=as_json)


@app.command("power", rich_help_panel=LOOK)
def price_claims(
    work: Project,
    claim: Annotated[str | None, typer.Option(help="The only claim to price, such as best-h.")] = None,
    paper: Annotated[str | None, typer.Option(help="The only paper, such as msci.")] = None,
    spread: Annotated[
        float | None,
        typer.Option(min=1e-6, help="The standard deviation of a difference over replicates. Default: as measured."),
    ] = None,
    as_json: JSON = False,
) -> None:
    """Show the price of undecided claims: the replicates and core-hours that would decide them."""
    from recompose.commands.places import find_paper
    from recompose.commands.power import power

    power(work, [find_paper(work, paper)] if paper else work.papers, claim, spread, as_json=as_json)


@app.command(rich_help_panel=EXTEND)
def new(
    work: Project,
    kind: Annotated[str, typer.Argument(help="method, dataset, suite, metric, paper or comparison.")],
    name: Annotated[str, typer.Argument(help="Its name, such as my-csp.")],
    track: Annotated[str | None, typer.Option(help="Its track. Default: the first with such a scaffold.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="The folder of its plugin. Default: ../NAME, beside the project.")
    ] = None,
) -> None:
    """Write the files of a method, data set, suite, metric or paper of your own, in a plugin with a test to fill, or of
    a comparison. Print the commands that follow. Nothing is overwritten, and no file of the project is changed.
    """
    from recompose.commands.new import write_new

    write_new(work, kind, name, track, folder)


@app.command(rich_help_panel=CHECK)
def doctor(work: Project, as_json: JSON = False) -> None:
    """Check this machine before any work: Python, packages, GPUs, disks, and data and weights on disk with their
    checksums. Suggest remedies, and fail where something would stop the chosen profile.
    """
    from recompose.commands.doctor import show_doctor

    raise typer.Exit(show_doctor(work, as_json=as_json))


@app.command(rich_help_panel=LOOK)
def status(work: Project, as_json: JSON = False) -> None:
    """Show the state and the progress of all runs. Fail if one failed or is damaged."""
    from recompose.commands.status import show_status

    raise typer.Exit(show_status(work, as_json=as_json))


@app.command(rich_help_panel=LOOK)
def trace(
    work: Project,
    artifact: Annotated[
        str | None,
        typer.Argument(help="An artifact, such as msci/table-2, or one of its files.", autocompletion=_artifact_names),
    ] = None,
    row: Annotated[str | None, typer.Option(help="The row's name, such as CSP. Default: list the rows.")] = None,
    column: Annotated[
        str | None, typer.Option(help='The column\'s name, such as "shapes-pairs AUC". Default: list the columns.')
    ] = None,
    view: Annotated[str | None, typer.Option(help="The view, where a table has several. Default: the first.")] = None,
    full: Annotated[bool, flag("--full", help="Show everything behind the number, too.")] = False,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="In place of an artifact: a run, an evaluation, a data set or a backbone, by the first characters of "
            "its digest, or of its place below results/, such as runs/0123. List the numbers, figures and claims that "
            "rest on it.",
        ),
    ] = None,
    as_json: JSON = False,
) -> None:
    """Trace a number: its value, its state, and the runs, code, data and cost behind it. Every file behind it is
    verified. For a number that the paper printed, show where it is printed, and what is measured beside it.
    """
    from recompose.commands.trace import show_reached, show_trace

    if (artifact is None) == (start is None) or (start and (row or column or view or full)):
        raise typer.BadParameter("give an artifact, or --from and a stored result without other options")
    if start:
        show_reached(work, start, as_json=as_json)
    elif artifact:
        show_trace(work, artifact, row, column, view, full=full, as_json=as_json)


@app.command(rich_help_panel=CHECK)
def audit(
    work: Project,
    papers: Annotated[
        list[str] | None, typer.Argument(help="Papers, such as msci. Default: all, and the page.")
    ] = None,
    full: Annotated[
        bool, flag("--full", help="Show all findings, and count cells by artifact instead of by paper.")
    ] = False,
    as_json: JSON = False,
    against: Annotated[
        str | None, typer.Option(help="A git revision, such as HEAD: only compare every number with its value there.")
    ] = None,
    release: Annotated[
        Path | None, typer.Option(help="An archive of `recompose release` to check instead; needs no project.")
    ] = None,
) -> None:
    """Check that the reports follow from their evaluations, and that the parameters still ask for these.

    Recompute every number from stored scores, verify the digest of every file, and compare every result with the
    current parameters, code and inputs. Fail where something does not hold. Without results/, check what can be
    checked, and list what cannot.
    """
    from recompose.commands.against import show_against
    from recompose.commands.audit import show_audit, show_release_audit
    from recompose.commands.places import find_paper

    if release and (papers or against):
        raise typer.BadParameter("--release checks an archive alone: use it without papers and --against")
    if release:
        raise typer.Exit(show_release_audit(release, full=full, as_json=as_json))
    chosen = [find_paper(work, name) for name in papers or ()] or work.papers
    if against:
        raise typer.Exit(show_against(work, chosen, against, as_json=as_json))
    raise typer.Exit(show_audit(work, chosen, full=full, as_json=as_json))


@app.command(rich_help_panel=CHECK)
def release(
    work: Project,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="The archive to write, which ends in .tar.gz. Default: results/release.tar.gz in the project."
        ),
    ] = None,
) -> None:
    """Write the reports with their scores and lock files as one archive. `recompose audit --release` checks it
    anywhere.
    """
    from recompose.commands.release import write_release

    file = file or Path(os.path.relpath(work.results / "release.tar.gz"))
    written = write_release(work, work.papers, file)
    absent = f"; scores of {written.absent} more are not on this disk" if written.absent else ""
    say(f"{file} has the reports of {written.profile} and the scores of {written.evaluations} evaluations{absent}")


@app.command("verify", rich_help_panel=CHECK)
def verify_runs(
    work: Project,
    sample: Annotated[int | None, typer.Option(min=1, help="The largest number of runs to make again.")] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.1, help="Begin no more runs after this time. Default: 5, without --sample.")
    ] = None,
    cell: CellName = None,
    seed: Annotated[str | None, typer.Option(help="The seed of the draw. Default: the digest of the commit.")] = None,
) -> None:
    """Make runs of the reports again from nothing, and compare them. They are drawn at random, and made in a temporary
    folder with the data and features that they need; results/ is only read.

    Return 0 if all are equal to the byte, otherwise 1.
    """
    from recompose.commands.verify import verify

    if cell and (sample or seed or minutes):
        raise typer.BadParameter(
            "--cell verifies all runs behind a number: use it without --sample, --minutes and --seed"
        )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing is left behind
    raise typer.Exit(verify(work, cell, sample, minutes, seed))


@app.command(rich_help_panel=LOOK)
def diff(
    work: Project,
    first: Annotated[str, typer.Argument(help="A method or variant, a profile, or a stored result.")],
    second: Annotated[str, typer.Argument(help="Another one of the same kind.")],
    as_json: JSON = False,
) -> None:
    """Show the settings in which two methods or variants, two profiles or two stored results differ."""
    from recompose.commands.diff import show_diff

    show_diff(work, first, second, as_json=as_json)


@store_app.command()
def prune(
    work: Project, dry_run: Annotated[bool, flag("--dry-run", "-n", help="Only list what would be removed.")] = False
) -> None:
    """Remove all results that no profile of params.yaml needs."""
    from recompose.commands.store import prune_results

    prune_results(work, dry=dry_run)


@store_app.command("release")
def release_backbone(
    work: Project,
    name: Annotated[
        str, typer.Argument(help="A backbone that the profile pretrains, such as shapes-clip-from-scratch.")
    ],
    file: Annotated[Path, typer.Argument(help="The file to write, such as assets/shapes-clip.safetensors.")],
) -> None:
    """Write a backbone that was pretrained here as a small file for release with the project; print its digest."""
    from recompose.phases import release_backbone as write_backbone

    print(write_backbone(work, name, file))


@store_app.command()
def commit(work: Project) -> None:
    """Write dvc.lock and data.dvc for the profile of params.yaml: the digests of all records, and of generated data.
    Where DVC cannot, as without a git repository, say why.
    """
    from recompose.commands.store import commit_digests

    commit_digests(work)


@store_app.command()
def discard(
    work: Project, name: Annotated[str, typer.Argument(help="KIND/FOLDER below results/, such as runs/0123456789ab.")]
) -> None:
    """Remove one stored result, so that the next workflow makes it again."""
    work.store.discard(name.removeprefix("results/"))
    say(f"removed results/{name.removeprefix('results/')}")


def main() -> None:
    """Run the commands of this module, which are all that a workflow calls."""
    run(app)


def run(commands: typer.Typer) -> NoReturn:
    """Run a command line, and exit.

    Errors that a user can fix, and those of the operating system, print one message, others their traceback. An
    interrupt prints nothing.
    """
    gc.freeze()  # objects of imports live to the end: collecting among them takes a tenth of a short command
    code = 1
    try:
        sys.exit(commands(standalone_mode=False))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except typer.TyperException as error:  # of the arguments; without a message where the help is shown instead
        message, code = error.format_message(), error.exit_code
    except OtherArithmeticError as error:
        command = [sys.executable, "-m", "recompose", *sys.argv[1:]]
        os.execve(sys.executable, command, environment_of(error.wanted))
    except RecomposeError as error:
        message = str(error)
    except ModuleNotFoundError as error:
        if not error.name or error.name.partition(".")[0] == "recompose":
            raise
        message = missing_package(error.name)
    except OSError as error:
        message = error_text(error)
    if message:
        print(f"recompose: {printable_lines(message)}", file=sys.stderr)
    sys.exit(code)
