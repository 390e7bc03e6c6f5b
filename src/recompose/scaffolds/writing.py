"""Writing of scaffolds from the folders of templates in this package."""

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Template

from recompose.errors import ArgumentError
from recompose.papers.checks import RESERVED
from recompose.papers.declaration import COMPARISONS
from recompose.params.mistakes import unknown_name
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
TEMPLATES = Path(__file__).parent / "templates"
PLUGIN = "plugin"  # the folder of templates that all plugins share
SHARED = "shared"  # in the folder of a kind: the templates of all its tracks
ITEMS = "items"  # in the folder of a kind: files that lie in the project's data, below the track
COMPARISON = "comparison"
ENDING = ".txt"  # of templates, so that no tool takes them for code; other files are copied


@dataclass(frozen=True)
class Scaffold:
    """The files of something new, and the commands that follow."""

    files: list[Path]
    commands: list[str]


def kinds() -> list[str]:
    """Return the kinds of scaffolds."""
    return sorted(folder.name for folder in TEMPLATES.iterdir() if folder.name != PLUGIN)


def tracks_of(kind: str) -> list[str]:
    """Return the tracks that a kind has a scaffold for."""
    return [track for track in TRACKS if (TEMPLATES / kind / track).is_dir()]


def taken_names(work: Workspace, track: str) -> list[str]:
    """Return the names that something new cannot have: those of a track's methods, data sets, suites and metrics, and
    of papers, profiles and comparisons.
    """
    comparisons = [path.stem for path in (work.root / COMPARISONS).glob("*.y*ml")]
    names = [*(paper.name for paper in work.catalogue.papers), *work.params.profiles, *comparisons, *RESERVED]
    if track not in work.catalogue:
        return names
    catalogue, section = work.catalogue[track], work.params.tracks[track]
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
    _check(kind, name, track, folder)
    is_plugin, package = kind != COMPARISON, name.replace("-", "_")
    target = (folder or root.parent / name) if is_plugin else root / COMPARISONS
    places = {TEMPLATES / kind / part: target for part in (SHARED, track)}
    places |= {TEMPLATES / PLUGIN: target} if is_plugin else {}
    places |= {TEMPLATES / kind / ITEMS: root / "data" / track}
    files = {place / path: text for part, place in places.items() for path, text in _rendered(part, name)}
    present = [path for path in (*([target] if is_plugin else ()), *files) if path.exists()]
    if present or name in taken or (is_plugin and find_spec(package)):
        there = present[0] if present else f"a module {package}" if name not in taken else name
        raise ArgumentError("NAME", f"{name!r}: {there} exists already; choose another", code="name-taken")
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Scaffold(sorted(files), _commands(name, target, is_plugin=is_plugin))


def _check(kind: str, name: str, track: str, folder: Path | None) -> None:
    """Check the arguments that need no look at the disk.

    Raises:
        ArgumentError: one is wrong.
    """
    for option, value, names in (("KIND", kind, kinds()), ("--track", track, tracks_of(kind))):
        for problem in unknown_name((option,), value, names):
            raise ArgumentError(option, problem.message, code=problem.code)
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        message = f"{name!r} is no name: it begins with a lower-case letter, and has those, digits, - and _ only"
        raise ArgumentError("NAME", message, code="wrong-name")
    if kind == COMPARISON and folder is not None:
        raise ArgumentError("--folder", f"is of plugins; a comparison is {COMPARISONS}/{name}.yaml", code="no-folder")


def _commands(name: str, target: Path, *, is_plugin: bool) -> list[str]:
    """Return the commands that follow, given the folder of a plugin or of comparisons."""
    if not is_plugin:
        return ["recompose plan", f"snakemake --cores all {COMPARISONS}/{name}"]
    install = f"pip install --no-deps --no-build-isolation --editable {target}"
    return [install, f"RECOMPOSE_PROFILE={name} snakemake --cores all {name}"]


def _rendered(folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder of templates: paths in which ``$`` begins a name of what is new, and contents."""
    package = name.replace("-", "_")
    names = {
        "name": name,
        "package": package,
        "class_name": "".join(part.capitalize() for part in package.split("_")),
        "title": name.replace("-", " ").replace("_", " ").capitalize(),
    }
    for file in folder.rglob("*.*"):
        path, content = Template(file.relative_to(folder).as_posix()).substitute(names), file.read_bytes()
        if file.suffix == ENDING:
            path, content = path.removesuffix(ENDING), Template(content.decode()).substitute(names).encode()
        yield path, content
