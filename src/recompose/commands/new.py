"""`recompose new`: the files of something of a user's own, and the commands that follow."""

from pathlib import Path

from recompose.scaffolds.writing import taken_names, tracks_of, write_scaffold
from recompose.workspace import Workspace


def write_new(work: Workspace, kind: str, name: str, track: str | None, folder: Path | None) -> None:
    """Write the files of something new, by default of the first track with such a scaffold."""
    track = track or next(iter(tracks_of(kind)), "")
    scaffold = write_scaffold(kind, name, track, folder, work.root, taken_names(work, track))
    print(*scaffold.files, "\nThe commands that follow:\n", sep="\n")
    for command in scaffold.commands:
        print(f"    {command}")
