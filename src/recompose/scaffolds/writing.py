"""Writing of scaffolds from the templates of this package."""

import keyword
import re
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from string import Template

from recompose.errors import ArgumentError
from recompose.files import write_text
from recompose.papers.comparison import FOLDER, RESERVED
from recompose.params.mistakes import nearest
from recompose.scaffolds.example_items import item_places, write_items
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
TEMPLATES = resources.files(__package__) / "templates"
PLUGIN = "plugin"  # the folder of templates that all plugins share
SHARED = "shared"  # in the folder of a kind: the templates of all its tracks
COMPARISON, SUITE = "comparison", "suite"
ENDING = ".txt"  # of templates, so that no tool takes them for code


@dataclass(frozen=True)
class Scaffold:
    """The files of something new, and the commands that follow."""

    files: list[Path]
    commands: list[str]


def kinds() -> list[str]:
    """Return the kinds of scaffolds."""
    return sorted(folder.name for folder in TEMPLATES.iterdir() if folder.is_dir() and folder.name != PLUGIN)


def tracks_of(kind: str) -> list[str]:
    """Return the tracks that a kind has a scaffold for."""
    return [track for track in TRACKS if (TEMPLATES / kind / track).is_dir()]


def taken_names(work: Workspace, track: str) -> list[str]:
    """Return the names that something new cannot have: those of a track's methods, data sets, suites and metrics, and
    of papers, profiles and comparisons.
    """
    comparisons = [path.stem for path in (work.root / FOLDER).glob("*.y*ml")]
    names = [*(paper.name for paper in work.catalogue.papers), *work.params.profiles, *comparisons, *RESERVED]
    if track not in work.catalogue.tracks:
        return names
    catalogue, section = work.catalogue.tracks[track], work.params.tracks[track]
    data = [name for field in catalogue.data_fields() for name in getattr(section, field)]
    metrics = [name.split("/")[1] for name in catalogue.metric_names()]  # suites are scored under their names
    return [*names, *catalogue.methods, *catalogue.adapters, *data, *metrics]


def write_scaffold(kind: str, name: str, track: str, folder: Path | None, root: Path, taken: list[str]) -> Scaffold:
    """Write the files of something new; nothing is overwritten, and nothing written where an argument is wrong.

    Args:
        kind: such as ``method``.
        name: of what is new, and of its plugin or comparison.
        track: its track.
        folder: of its plugin, by default ``../<name>``; a comparison is a file of the project and has none. The items
            of a suite are in the project's ``data``.
        root: of the project.
        taken: names that are in use for this kind.

    Raises:
        ArgumentError: an argument is wrong, or there is something already.
    """
    _check(kind, name, track, taken)
    if kind == COMPARISON:
        return _write_comparison(name, track, folder, root)
    package = name.replace("-", "_")
    if find_spec(package):
        raise ArgumentError("NAME", f"{name!r}: a module {package} exists already; choose another", code="name-taken")
    target = folder or root.parent / name
    if target.exists():
        raise ArgumentError("--folder", f"{target} exists already; choose another", code="folder-exists")
    data = root / "data" / track
    if kind == SUITE and (present := next((path for path in item_places(data, name) if path.exists()), None)):
        raise ArgumentError("NAME", f"{name!r}: {present} exists already; choose another", code="name-taken")
    files = _rendered(TEMPLATES / PLUGIN, name) | _rendered_kind(kind, track, name)
    items = write_items(data, name) if kind == SUITE else []
    return Scaffold(
        [*_write(target, files), *items],
        [
            f"pip install --no-deps --no-build-isolation --editable {target}",
            f"recompose check {name}",
            f"RECOMPOSE_PROFILE={name} snakemake --cores all {name}",
        ],
    )


def _write_comparison(name: str, track: str, folder: Path | None, root: Path) -> Scaffold:
    if folder is not None:
        raise ArgumentError("--folder", f"is of plugins; a comparison is {FOLDER}/{name}.yaml", code="no-folder")
    files = _rendered_kind(COMPARISON, track, name)
    for file in files:
        if (path := root / FOLDER / file).exists():
            raise ArgumentError("NAME", f"{name!r}: {path} exists already; choose another", code="name-taken")
    commands = ["recompose plan", f"recompose check {name}", f"snakemake --cores all {FOLDER}/{name}"]
    return Scaffold(_write(root / FOLDER, files), commands)


def _check(kind: str, name: str, track: str, taken: list[str]) -> None:
    """Check the arguments that need no look at the disk.

    Raises:
        ArgumentError: one is wrong.
    """
    if kind not in kinds():
        message = f"{kind!r} is no kind of scaffold{nearest(kind, kinds())}; there is: {', '.join(kinds())}"
        raise ArgumentError("KIND", message, code="unknown-kind")
    if track not in (tracks := tracks_of(kind)):
        message = f"{track!r}: no scaffold of a {kind}{nearest(track, tracks)}; there is: {', '.join(tracks)}"
        raise ArgumentError("--track", message, code="unknown-track")
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        message = f"{name!r} is no name: it begins with a lower-case letter, and has those, digits, - and _ only"
        raise ArgumentError("NAME", message, code="wrong-name")
    if name in taken:
        raise ArgumentError("NAME", f"{name!r} exists already; choose another", code="name-taken")


def _rendered_kind(kind: str, track: str, name: str) -> dict[str, str]:
    """Return the texts of a kind's templates for a track by their relative paths."""
    folders = [TEMPLATES / kind / folder for folder in (SHARED, track)]
    return {path: text for folder in folders if folder.is_dir() for path, text in _rendered(folder, name).items()}


def _rendered(folder: Traversable, name: str) -> dict[str, str]:
    """Return the texts of a folder of templates by their relative paths."""
    package = name.replace("-", "_")
    names = {
        "name": name,
        "package": package,
        "class_name": "".join(part.capitalize() for part in package.split("_")),
        "title": name.replace("-", " ").replace("_", " ").capitalize(),
    }
    texts: dict[str, str] = {}
    for item in folder.iterdir():
        inside = {"package": package, "name": name}.get(item.name, item.name)
        if item.is_dir():
            texts |= {f"{inside}/{path}": text for path, text in _rendered(item, name).items()}
        elif item.name.endswith(ENDING):
            file = item.name.removesuffix(ENDING).replace("test_package", f"test_{package}")
            file = f"{name}.yaml" if file == "name.yaml" else file
            texts[file] = Template(item.read_text(encoding="utf-8")).substitute(names)
    return texts


def _write(folder: Path, files: dict[str, str]) -> list[Path]:
    paths = [folder / file for file in sorted(files)]
    for path, file in zip(paths, sorted(files), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, files[file])
    return paths
