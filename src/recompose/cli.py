"""The command line: one thin subcommand per phase, and what people ask of the results."""

from pathlib import Path
from typing import Annotated

import typer

from recompose.workspace import Workspace

app = typer.Typer(
    help="Rebuild the tables and figures of five papers, and trace every number to its runs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
