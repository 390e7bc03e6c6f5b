"""`release`: the reports with their scores as one archive, which `audit --release` checks anywhere.

An archive has a single folder: a README, parameters, workflow, reports, the data indexes and scores behind them, and
lock files. The same content gives the same bytes. Its files are checked as those of a project: provenance.json has the
digests of reports, made.json and records those of results.
"""

import gzip
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError

from recompose.data.archives import extract
from recompose.data.upstream import LOCK
from recompose.environment import state_of_sources
from recompose.errors import ReleaseError
from recompose.files import SCRATCH, read_json, write_atomically
from recompose.papers.declaration import COMPARISONS, Paper
from recompose.recipes.records import LenientModel
from recompose.tables.published import Published
from recompose.tables.reports import READ, Reports
from recompose.workspace import Workspace

RELEASE, ENDING = "release.json", ".tar.gz"
FILES = (
    *("params.yaml", "CITATION.cff", "LICENSE", "dvc.yaml", "dvc.lock", "data.dvc", LOCK),
    *("requirements.lock", "pyproject.toml", "workflow", COMPARISONS),
)
README = Path(__file__).with_suffix(".md")  # of an archive, with places for what it holds
MAX_BYTES = 4 * 2**30  # of an archive that is read


class Release(LenientModel):
    """The description of a release: the program that made it, and the profile of its reports."""

    model_config = ConfigDict(extra="forbid", strict=True)

    program: str = Field(pattern=r"^recompose \S+$")
    profile: str = Field(pattern=r"^[\w.-]{1,100}$")
    commit: str | None
    evaluations: int  # whose scores are in the archive
    absent: int  # evaluations behind the reports that are not


def write_release(work: Workspace, papers: list[Paper], target: Path) -> Release:
    """Write the reports with their scores as an archive.

    Args:
        work: the workspace.
        papers: the papers with reports.
        target: the file to write, which ends in ``.tar.gz``; it replaces an older one.

    Raises:
        ReleaseError: the file has another ending, or there are no reports, or no scores are stored.
    """
    if not target.name.endswith(ENDING):
        raise ReleaseError(f"{target} does not end in {ENDING}: name another file", code="ending", place=target)
    published = Published.read(Reports(work))
    behind = {key: recipe for key, recipe in published.recipes.items() if recipe.kind in READ}
    stored = [key for key, recipe in behind.items() if work.store.is_complete(recipe)]
    evaluations, scored = ([key for key in keys if key.startswith("evaluations/")] for keys in (behind, stored))
    if not published.cells or (evaluations and not scored):
        message = f"{work.reports} or the scores behind it are missing: `snakemake --cores all` makes both"
        raise ReleaseError(message, code="missing-scores", place=work.reports)
    release = Release(
        program=f"recompose {version('recompose')}",
        profile=work.params.profile,
        commit=state_of_sources(work.root)["commit"],
        evaluations=len(scored),
        absent=len(evaluations) - len(scored),
    )
    names = ", ".join(paper.name for paper in papers)
    described = README.read_text(encoding="utf-8").format(release=release, papers=names, reports=work.reports_place)
    files = _files(work.root, (*FILES, work.reports_place, *(f"results/{key}" for key in stored)))
    texts = {"README.md": described.encode(), RELEASE: release.model_dump_json(indent=2).encode()}
    folder = target.name.removesuffix(ENDING)
    write_atomically(target, lambda path: _pack({**files, **texts}, folder, path))
    return release


def _files(root: Path, places: Iterable[str]) -> dict[str, Path]:
    """Return the files at and below some places of a project, by name, without hidden and temporary ones and links."""
    below = (path for place in places for path in (root / place, *(root / place).rglob("*")))
    names = {path.relative_to(root): path for path in below if path.is_file() and not path.is_symlink()}
    hidden = {name for name in names if any(part.startswith((".", "__")) for part in name.parts)}
    temporary = {name for name in names if name.parts[3:4] == (SCRATCH,)}  # in the folder of a result
    return {str(name): path for name, path in names.items() if name not in hidden | temporary}


def _pack(files: Mapping[str, Path | bytes], folder: str, target: Path) -> None:
    """Write files as a compressed archive that holds no times, owners or modes of this machine."""
    with (
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, source in sorted(files.items()):
            content = source.read_bytes() if isinstance(source, Path) else source
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(content)
            archive.addfile(info, BytesIO(content))


@contextmanager
def open_release(archive: Path) -> Iterator[tuple[Path, Release]]:
    """Unpack a release that anybody may have written into a temporary folder; yields that of the project in it, and its
    description.

    Raises:
        UnsafeArchive: the archive is damaged, too large, or holds paths or files that are not unpacked.
        ReleaseError: it is no release.
    """
    if not archive.is_file():
        raise ReleaseError(f"{archive} is no file", code="missing-file", place=archive)
    with tempfile.TemporaryDirectory(prefix="recompose-release-") as scratch:
        extract(archive, Path(scratch) / "release", max_bytes=MAX_BYTES)
        folders = list((Path(scratch) / "release").iterdir())
        try:
            if len(folders) != 1:
                raise ValueError("it has not one folder")
            release = Release.model_validate(read_json(folders[0] / RELEASE))
        except (OSError, ValidationError, ValueError, RecursionError) as error:
            message = f"{archive} is no release of this version: its {RELEASE} is absent or not valid ({error})"
            raise ReleaseError(message, code="no-release", place=RELEASE) from None
        yield folders[0], release
