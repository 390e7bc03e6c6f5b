"""`release`: the reports with their scores as one archive, which `audit --release` checks anywhere.

An archive has a single folder: a README, parameters, workflow, reports, the data indexes and scores behind them, lock
files, and the SHA-256 of every file. The same content gives the same bytes.
"""

import gzip
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

from pydantic import ConfigDict, Field, ValidationError

from recompose.data.archives import extract
from recompose.data.upstream import LOCK
from recompose.digest import sha256_file
from recompose.environment import state_of_sources
from recompose.errors import ReleaseError
from recompose.files import SCRATCH, read_json, write_atomically
from recompose.papers.declaration import COMPARISONS, Paper
from recompose.recipes.records import LenientModel
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.workspace import Workspace

RELEASE, CHECKSUMS, ENDING = "release.json", "SHA256SUMS", ".tar.gz"
SCORED = ("data", "evaluations")  # the kinds of results from which all numbers follow
FILES = (
    *("params.yaml", "CITATION.cff", "LICENSE", "dvc.yaml", "dvc.lock", "data.dvc", LOCK),
    *("requirements.lock", "pyproject.toml"),
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


@dataclass(frozen=True)
class OpenRelease:
    """An unpacked release whose files match their checksums."""

    root: Path
    release: Release
    files: int


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
    behind = {key: recipe for key, recipe in published.recipes.items() if recipe.kind in SCORED}
    stored = {key for key, recipe in behind.items() if work.store.is_complete(recipe)}
    evaluations = {key for key in behind if key.startswith("evaluations/")}
    if not published.cells or (evaluations and not evaluations & stored):
        message = f"{work.reports} or the scores behind it are missing: `snakemake --cores all` makes both"
        raise ReleaseError(message, code="missing-scores", place=work.reports)
    release = Release(
        program=f"recompose {version('recompose')}",
        profile=work.params.profile,
        commit=state_of_sources(work.root)["commit"],
        evaluations=len(evaluations & stored),
        absent=len(evaluations - stored),
    )
    names = ", ".join(paper.name for paper in papers)
    described = README.read_text(encoding="utf-8").format(release=release, papers=names, reports=work.reports_place)
    folders = ("workflow", COMPARISONS, work.reports_place, *(f"results/{key}" for key in stored))
    files: dict[str, Path | bytes] = {
        "README.md": described.encode(),
        RELEASE: release.model_dump_json(indent=2).encode(),
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = target.name.removesuffix(ENDING)
    write_atomically(target, lambda path: _pack(files | _files(work.root, (*FILES, *folders)), folder, path))
    return release


def _files(root: Path, places: Iterable[str]) -> dict[str, Path]:
    """Return the files at and below some places of a project, by name, without hidden and temporary ones and links."""
    below = (path for place in places for path in (root / place, *(root / place).rglob("*")))
    names = {path.relative_to(root): path for path in below if path.is_file() and not path.is_symlink()}
    hidden = {name for name in names if any(part.startswith((".", "__")) for part in name.parts)}
    temporary = {name for name in names if name.parts[3:4] == (SCRATCH,)}  # in the folder of a result
    return {str(name): path for name, path in names.items() if name not in hidden | temporary}


def _pack(files: Mapping[str, Path | bytes], folder: str, target: Path) -> None:
    """Write files and their digests as a compressed archive that holds no times, owners or modes of this machine."""
    with (
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content in _with_digests(files):
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size = len(content)
            archive.addfile(info, BytesIO(content))


def _with_digests(files: Mapping[str, Path | bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield files with their content, the file of their digests last."""
    digests = ""
    for name, source in sorted(files.items()):
        content = source.read_bytes() if isinstance(source, Path) else source
        digests += f"{sha256(content).hexdigest()}  {name}\n"
        yield name, content
    yield CHECKSUMS, digests.encode()


@contextmanager
def open_release(archive: Path) -> Iterator[OpenRelease]:
    """Unpack a release that anybody may have written into a temporary folder, and compare all files with their digests.

    Raises:
        UnsafeArchive: the archive is damaged, too large, or holds paths or files that are not unpacked.
        ReleaseError: it is no release, or a file differs from its digest, is missing, or is not listed.
    """
    if not archive.is_file():
        raise ReleaseError(f"{archive} is no file", code="missing-file", place=archive)
    with tempfile.TemporaryDirectory(prefix="recompose-release-") as scratch:
        extract(archive, Path(scratch) / "release", max_bytes=MAX_BYTES)
        folders = list((Path(scratch) / "release").iterdir())
        if len(folders) != 1 or not (folders[0] / RELEASE).is_file():
            message = f"{archive} is no release: it has not one folder with {RELEASE}"
            raise ReleaseError(message, code="no-release", place=archive)
        files = _check_digests(archive, folders[0])
        try:
            release = Release.model_validate(read_json(folders[0] / RELEASE))
        except (ValidationError, ValueError, RecursionError):
            message = f"{archive}: {RELEASE} is not valid: it was changed, or another version wrote it"
            raise ReleaseError(message, code="no-release", place=RELEASE) from None
        yield OpenRelease(folders[0], release, files)


def _check_digests(archive: Path, folder: Path) -> int:
    """Compare all files with the listed digests, and return their number."""
    try:
        entries = [line.split("  ", 1) for line in (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines()]
        listed = {name: digest for digest, name in entries}
    except (OSError, ValueError):
        raise ReleaseError(f"{archive}: {CHECKSUMS} cannot be read", code="checksums", place=CHECKSUMS) from None
    present = {str(path.relative_to(folder)): sha256_file(path) for path in folder.rglob("*") if path.is_file()}
    present.pop(CHECKSUMS, None)
    if wrong := sorted(name for name in listed.keys() | present.keys() if listed.get(name) != present.get(name)):
        more = f", and so are {len(wrong) - 1} more" if len(wrong) > 1 else ""
        fault = "not as it was released: it was changed, removed or added since"
        raise ReleaseError(f"{archive}: {wrong[0]!r} is {fault}{more}", code="changed-file", place=wrong[0])
    return len(listed)
