"""Names of artifacts: what people write for a table or a figure, and the nearest name where there is none."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from recompose.errors import TraceError
from recompose.papers.comparison import FOLDER
from recompose.papers.declaration import Paper
from recompose.report.lineage import SUFFIX, lineage_path
from recompose.workspace import Workspace

SHOWN = 12  # names that an error lists


def find_artifact(work: Workspace, *names: str) -> Path:
    """Return the path of an artifact in the reports.

    Args:
        work: the workspace.
        names: ``msci/table-2``, ``msci`` and ``table-2``, ``comparisons/my-csp/table``, or one of the artifact's files,
            of any profile.

    Raises:
        TraceError: there is no such paper, or it has no such artifact; the message names the nearest one.
    """
    path = Path(*names)
    if len(path.parts) == 3 and path.parts[0] == FOLDER:
        path = Path(*path.parts[1:])
    if _has_lineage(path) or len(path.parts) > 2:
        return path
    papers = {paper.name: paper for paper in work.papers}
    paper, _, artifact = str(path).partition("/")
    name = one_of(papers, paper, "paper", "unknown-paper")
    declared = list(papers[name].artifacts)
    if not artifact:
        message = f"{name} has {len(declared)} artifacts; name one: {_listed(declared)}"
        raise TraceError(message, code="no-artifact", place=name)
    stem = lineage_path(Path(artifact)).name.removesuffix(SUFFIX)
    if not _has_lineage(work.reports / name / stem):  # a table of an earlier version may still lie there
        one_of(declared, stem, f"artifact of {name}", "unknown-artifact")
    return work.reports / name / artifact


def paper_of(papers: Iterable[Paper], path: Path) -> tuple[Paper | None, str]:
    """Return the paper of an artifact, given any of its files, and the artifact's name; None if it is not declared."""
    folder, name = path.resolve().parent.name, lineage_path(path).name.removesuffix(SUFFIX)
    paper = next((paper for paper in papers if paper.name == folder and name in paper.artifacts), None)
    return paper, name


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name nearest to a misspelled one without regard to its case, or None if none is near.

    >>> nearest_name("Mcsi", ["msci", "duplex"]), nearest_name("x", ["msci"])
    ('msci', None)
    """
    spelled = {text.lower(): text for text in names}
    nearest = get_close_matches(name.lower(), spelled, n=1, cutoff=0.3)
    return spelled[nearest[0]] if nearest else None


def one_of(names: Iterable[str], given: str, title: str, code: str) -> str:
    """Return the name that equals what was given but for capitals."""
    spelled = {name.lower(): name for name in names}
    if given.lower() in spelled:
        return spelled[given.lower()]
    nearest = nearest_name(given, spelled.values())
    hint = f"; the nearest is '{nearest}'" if nearest else ""
    message = f"there is no {title} '{given}'{hint}; there are: {_listed([*spelled.values()])}"
    raise TraceError(message, code=code, place=given)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _has_lineage(path: Path) -> bool:
    return lineage_path(path).is_file()
