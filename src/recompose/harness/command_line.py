"""The commands for any CLIP on the suites: options and exit codes alone."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from recompose.console import print_json, printable
from recompose.files import write_json
from recompose.harness.evaluation import Activation, EvaluationRequest, Precision, show_evaluation
from recompose.options import JSON, Project, RawFiles, flag, raw_files
from recompose.progress import say
from recompose.tracks.vlc import VLC

if TYPE_CHECKING:
    from recompose.harness.arrange import Arrangement

LEFT_OUT = 3  # the exit code where suites that were asked for were left out
SuiteName = Annotated[str, typer.Argument(help="A published suite, such as sugarcrepe.")]
app = typer.Typer()
PANEL = "Any CLIP"  # the group of these commands in the help
data_app = typer.Typer(help="Bring the raw files of suites below data/.", no_args_is_help=True)
app.add_typer(data_app, name="data", rich_help_panel=PANEL)


@app.command("evaluate", rich_help_panel=PANEL)
def evaluate_model(
    work: Project,
    model: Annotated[
        str,
        typer.Option(
            help="An architecture of open_clip or of this project, such as ViT-B-32; a model of open_clip in a folder "
            "or on a hub, local-dir:... or hf-hub:...; or a function of your own that loads one, my_module:load."
        ),
    ],
    suites: Annotated[
        str,
        typer.Option(
            help="Names of suites, separated by commas; all: every published one whose data is there. my-suite is an "
            "entry of vlc.suites of params.yaml or of a plugin; my-suite:winoground is a suite of your own in the form "
            "of a published one, or of a plugin."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder for results; an interrupted evaluation continues there.")],
    weights: Annotated[
        str | None,
        typer.Option(
            help="A file, a tag of open_clip such as openai, or a folder results/runs/... of a run. With a function of "
            "your own: its argument, if it takes one."
        ),
    ] = None,
    data: RawFiles = None,
    batch_size: Annotated[int, typer.Option(min=1, help="The number of images or texts to encode at a time.")] = 256,
    precision: Annotated[
        Precision,
        typer.Option(help="fp32, as the papers evaluate; fp16, bf16: faster on a GPU, with other last digits."),
    ] = "fp32",
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1; auto: a GPU if there is one.")] = "auto",
    activation: Annotated[
        Activation,
        typer.Option(
            help="gelu, quick_gelu; auto: the one that the weights were trained with, or else a guess, as a note says."
        ),
    ] = "auto",
    like: Annotated[
        str | None,
        typer.Option(
            help="For a file: the tag of open_clip that its weights were tuned from, such as openai. They get its "
            "activation and preprocessing. A tag of another architecture: ViT-L-14:openai."
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            help="For a file that holds weights several times: the key or prefix of those to read, such as ema."
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(min=0, max=1, help="For a run: the share of trained weights; the rest are initial (WiSE-FT)."),
    ] = 1.0,
    skip_broken: Annotated[
        bool,
        flag("--skip-broken", help="Leave out, and count, items whose images are absent or cannot be read."),
    ] = False,
    strict: Annotated[
        bool, flag("--strict", help="Stop at the first suite that is partial, incomplete or broken.")
    ] = False,
    items: Annotated[
        int | None,
        typer.Option(
            min=1, help="The largest number of items of each sub-task of EqBen, 20000 in FSC-CLIP. Default: all."
        ),
    ] = None,
) -> None:
    """Evaluate any CLIP on suites of images and texts, outside of any paper. Print a table, and write scores.csv,
    results.json and the scores of all items. Leave out incomplete and broken suites, say so in a line, and return 3.
    """
    from recompose.harness.named_suites import KnownSuites
    from recompose.harness.survey import suites_present

    request = EvaluationRequest(
        model=model,
        weights=weights,
        suites=_names(suites),
        known=KnownSuites.of(work, _names(suites)),
        data=data or raw_files(work),
        out=out,
        batch_size=batch_size,
        precision=precision,
        device=device,
        activation=activation,
        like=like,
        part=part,
        alpha=alpha,
        skip_broken=skip_broken,
        items=items,
        strict=strict,
    )
    suites_present(request.suites, request.data, request.known)  # wrong names are told before torch is imported
    from recompose.harness.evaluate import evaluate

    evaluation = evaluate(request)
    show_evaluation(Console(), evaluation)
    raise typer.Exit(LEFT_OUT if evaluation.left_out else 0)


@app.command(rich_help_panel=PANEL)
def items(
    work: Project,
    result: Annotated[
        str,
        typer.Argument(
            help="A folder of `recompose evaluate`; the first characters of an evaluation's key or digest; or a "
            "profile and a method, such as demo/negclip."
        ),
    ],
    suite: Annotated[str, typer.Option(help="The suite, such as winoground.")],
    worst: Annotated[int, typer.Option(min=1, help="The number of items to show.")] = 20,
    category: Annotated[
        str | None, typer.Option(help="Only this category, with those below it, such as swap_obj.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="Another result: show the items that only one of the two has right.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Also write them to this file, as a page with images.")] = None,
    data: RawFiles = None,
    seed: Annotated[int | None, typer.Option(help="The seed of a profile's method. Default: the first.")] = None,
    as_json: JSON = False,
) -> None:
    """Show the items of a suite with the lowest margins, with captions, scores, ties and categories; with --against,
    those that only one of two models has right. Stored scores are read; no model is run.
    """
    from recompose.harness.item_views import show_items
    from recompose.harness.items import item_sheet

    results = [result for result in (result, against) if result]
    sheets = [item_sheet(work, result, suite, data or raw_files(work), seed) for result in results]
    show_items(sheets, worst, category, html, as_json=as_json)


@app.command(rich_help_panel=PANEL)
def clip_benchmark(
    work: Project,
    result: Annotated[Path, typer.Argument(help="A folder of `recompose evaluate`.")],
    folder: Annotated[Path, typer.Argument(help="The folder to write into: a file for each data set.")],
) -> None:
    """Write a result of `recompose evaluate` in the form of LAION-AI/CLIP_benchmark, for its command build."""
    from recompose.harness.clip_benchmark import documents_of
    from recompose.harness.stored_evaluation import EvaluationResult

    track = work.catalogue[VLC.name]
    assert isinstance(track, VLC)
    documents = dict(documents_of(EvaluationResult.read(result), track.own_queries))
    for name, document in documents.items():
        write_json(folder / name, document)
    command = f"clip_benchmark build {quote(str(folder))}"
    say(f"{len(documents)} files are written to {folder}; `{command}` makes a table of them")


@app.command(rich_help_panel=PANEL)
def compare(
    folders: Annotated[
        list[Path], typer.Argument(help="Two folders of `recompose evaluate` or more; the first is the baseline.")
    ],
    suites: Annotated[
        str, typer.Option(help="Names of suites, separated by commas; all: those that all evaluations have.")
    ] = "all",
    out: Annotated[Path | None, typer.Option(help="A folder for the table and the figure.")] = None,
    parts: Annotated[bool, flag("--parts", help="Show the numbers of parts of suites, too.")] = False,
    resamples: Annotated[int, typer.Option(min=1_000, help="The number of draws of a bootstrap.")] = 10_000,
    as_json: JSON = False,
) -> None:
    """Compare models item by item, from the stored scores of `recompose evaluate`: differences with intervals, tests
    that are corrected for the number of suites, and the smallest difference that a suite can show with its items.
    """
    from recompose.harness.compare import compare as compare_models
    from recompose.harness.comparison_files import comparison_document, show_comparison, write_comparison

    comparison = compare_models(folders, _names(suites), resamples)
    files = write_comparison(comparison, out) if out else ()
    if as_json:
        print_json(comparison_document(comparison))
        return
    show_comparison(Console(), comparison, parts=parts)
    if files:
        print(printable(f"written: {', '.join(map(str, files))}"))


def _names(text: str) -> tuple[str, ...]:
    """Return names that are separated by commas."""
    return tuple(name.strip() for name in text.split(","))


@data_app.command("check")
def check_suites(work: Project, data: RawFiles = None, as_json: JSON = False) -> None:
    """Show the state of every published suite on disk, and the files that it requires. Return 1 if one is incomplete or
    broken.
    """
    from recompose.harness.survey import show_suites

    raise typer.Exit(show_suites(data or raw_files(work), as_json=as_json))


@data_app.command()
def fetch(work: Project, suite: SuiteName, data: RawFiles = None) -> None:
    """Download the files of a suite that are absent, to data/archives, and put them where they are read. Say where to
    get those that cannot be downloaded, and fail if there are any.
    """
    from recompose.harness.arrange import fetch as fetch_suite

    _show_arrangement(fetch_suite(suite, data or raw_files(work), raw_files(work, "")))


@data_app.command()
def arrange(
    work: Project,
    suite: SuiteName,
    data: RawFiles = None,
    folder: Annotated[
        Path | None,
        typer.Option("--from", help="A folder to search besides data/archives, for archives and for unpacked files."),
    ] = None,
) -> None:
    """Put a suite's files where they are read: unpack its archives in data/archives, and link what is unpacked already.
    Nothing that exists is replaced. Fail if a file is absent.
    """
    from recompose.harness.arrange import arrange as arrange_suite

    _show_arrangement(arrange_suite(suite, data or raw_files(work), raw_files(work, ""), folder))


def _show_arrangement(arrangement: "Arrangement") -> None:
    for line in arrangement.lines:
        print(printable(line))
    raise typer.Exit(0 if arrangement.is_complete else 1)


@data_app.command()
def aro_order(work: Project, data: RawFiles = None) -> None:
    """Draw the shuffled captions of ARO's COCO-Order and Flickr30k-Order, which its authors do not publish, by their
    rules from the captions of the suites coco and flickr30k. Download the language models that this needs.
    """
    from recompose.harness.aro_order import draw

    draw(data or raw_files(work), raw_files(work, ""))
