"""Arguments and options that several commands take."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from recompose.workspace import Workspace, open_workspace

VLC = "vlc"  # the folder of the suites' raw files

flag = partial(typer.Option, metavar="")  # help would show <bool> beside it, as if it took a value

JSON = Annotated[bool, flag("--json", help="Print JSON.")]
RawFiles = Annotated[
    Path | None, typer.Option(help="The folder of the suites' raw files. Default: data/vlc in the project.")
]
Project = Annotated[
    Workspace,
    typer.Option(
        "--project",
        metavar="FOLDER",
        parser=open_workspace,
        default_factory=lambda: ".",
        show_default=False,
        help="The project: a folder with params.yaml, or one below it. Default: the folder of the call.",
    ),
]


def raw_files(work: Workspace, folder: str = VLC) -> Path:
    """Return a folder below the project's folder of raw inputs, as seen from the folder of the call."""
    return Path(os.path.relpath(work.data / folder))
