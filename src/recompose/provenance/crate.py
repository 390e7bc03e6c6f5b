"""Crate: the reports with their lineage as an RO-Crate, a folder that other tools read.

It holds the workflow, the parameters, the reports and ``ro-crate-metadata.json``. The same reports give the same bytes.
"""

import errno
import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

import yaml

from recompose.data.lock import LOCK
from recompose.errors import BusyError, CrateError
from recompose.papers.declaration import Paper
from recompose.provenance.crate_names import PARAMETERS, RUN_OF_ALL, WORKFLOW
from recompose.report.published import PublishedLineage

METADATA = "ro-crate-metadata.json"
CITATION = "CITATION.cff"
PACKAGE = "rocrate"  # optional, see pyproject.toml
NEEDED = (WORKFLOW, PARAMETERS, CITATION)
FILES = (PARAMETERS, CITATION, "LICENSE", "dvc.yaml", "dvc.lock", LOCK)


def write_crate(root: Path, target: Path, papers: list[Paper], reports: str) -> None:
    """Write the crate of a project with reports. Results are not needed, only reports, workflow and parameters.

    The crate is written beside its target and moved there when it is complete, so an older crate stays until then.

    Args:
        root: the project's folder.
        target: the folder of the crate.
        papers: the papers with reports.
        reports: the folder of reports, below the project's.

    Raises:
        CrateError: there are no reports, or the target is no crate of this kind, or holds files that it does not list,
            or the package that writes crates is not installed.
        BusyError: another process wrote a crate there at the same time.
    """
    try:
        from recompose.provenance.crate_graph import build
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != PACKAGE:
            raise
        message = f"a crate is written by the package {PACKAGE}: `pip install {PACKAGE}` installs it"
        raise CrateError(message, code="missing-package", place=PACKAGE) from None
    published = PublishedLineage.read(root / reports, papers)
    folders = ("workflow", reports)
    files = _files(root, folders)
    _check_needed(root, files)
    if not published.records:
        message = f"{root / reports} has no lineage: make the reports with `snakemake --cores all`"
        raise CrateError(message, code="missing-lineage", place=root / reports)
    _check_target(root, target, folders)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        citation = yaml.safe_load((root / CITATION).read_text(encoding="utf-8"))
        build(root, files, citation, published, papers, reports).write(scratch / "new")
        _exchange(scratch / "new", target, scratch / "old")
    finally:
        shutil.rmtree(scratch)


def _exchange(new: Path, target: Path, old: Path) -> None:
    """Move a folder to its target, and an older one that is there to ``old``.

    Raises:
        BusyError: another process did the same in between.
    """
    try:
        if target.exists():
            target.replace(old)
        new.replace(target)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
            raise
        message = f"another process wrote {target} at the same time, which is left as it is: repeat this command"
        raise BusyError(message, place=target) from None


def _files(root: Path, folders: Iterable[str]) -> list[str]:
    """Return the files of a project's crate as paths below the project's folder, without hidden files and links."""
    paths = [root / name for name in FILES]
    paths += [path for folder in folders for path in (root / folder).rglob("*")]
    names = [path.relative_to(root) for path in paths if path.is_file() and not path.is_symlink()]
    return sorted(name.as_posix() for name in names if not any(part.startswith((".", "__")) for part in name.parts))


def _check_needed(root: Path, files: list[str]) -> None:
    for name in NEEDED:
        if name not in files:
            message = f"{root / name} is missing: run this in the project's folder"
            raise CrateError(message, code="missing-file", place=root / name)


def _check_target(root: Path, target: Path, folders: Iterable[str]) -> None:
    if any(target.resolve().is_relative_to((root / folder).resolve()) for folder in folders):
        message = f"{target} is inside a folder that the crate copies: choose another folder"
        raise CrateError(message, code="inside-crate", place=target)
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise CrateError(f"{target} is no folder: choose another one", code="no-folder", place=target)
    if target.is_dir() and any(target.iterdir()):
        _check_ours(target)


def _check_ours(target: Path) -> None:
    """Check that the target is a crate that this program wrote.

    Raises:
        CrateError: it is another kind of folder, or something was added to it.
    """
    listed = _listed(target / METADATA)
    if RUN_OF_ALL not in listed:
        message = f"{target} is not a crate of this program and is not replaced: choose another folder"
        raise CrateError(message, code="no-crate", place=target)
    inside = {path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir()}
    if unlisted := sorted(inside - listed):
        message = f"{target} holds files that it does not list and is not replaced: {', '.join(unlisted[:5])}"
        raise CrateError(message, code="unlisted-file", place=target / unlisted[0])


def _listed(metadata: Path) -> set[str]:
    """Return the identifiers of a crate's entities; none where it is no crate."""
    try:
        graph: list[dict[str, str]] = json.loads(metadata.read_text(encoding="utf-8"))["@graph"]
        return {unquote(entity["@id"]) for entity in graph}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
