"""Link the project's data and results into the folder of an experiment that DVC runs apart from it.

`dvc exp run --temp` and `dvc queue start` work in `.dvc/tmp/exps/`, and remove the folder at the end. Content is named by
what determines it: the experiment needs no copy, trains what is new alone, and leaves it to the project. Anywhere else
this does nothing.
"""

from pathlib import Path

APART = (".dvc", "tmp", "exps")
STORED = [f"results/{kind}" for kind in ("backbones", "data", "evaluations", "features", "grids", "pixels", "runs")]


def share(folder: Path) -> None:
    """Link what the project has below data/ and results/, and what it will have."""
    project = next((parent.parents[2] for parent in folder.parents if parent.parts[-3:] == APART), None)
    if project is None:
        return
    for place in STORED:
        (project / place).mkdir(parents=True, exist_ok=True)
    present = [path for name in ("data", "results") for path in project.glob(f"{name}/*")]
    for path in present:
        link = folder / path.relative_to(project)
        link.parent.mkdir(exist_ok=True)
        if not link.exists():
            link.symlink_to(path)


share(Path.cwd())
