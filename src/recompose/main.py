"""The whole command line: the commands that rebuild papers, and those for any CLIP. Neither imports the other."""

from importlib.metadata import version
from typing import Annotated

import typer

from recompose import cli
from recompose.harness import command_line
from recompose.options import flag

app = typer.Typer(
    help=cli.HELP,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",  # joins the lines of a paragraph
    pretty_exceptions_enable=False,
)
app.add_typer(cli.app)
app.add_typer(command_line.app)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print(f"recompose {version('recompose')}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, flag("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Take the options that stand before every command."""


def main() -> None:
    """Run the whole command line."""
    cli.run(app)
