"""Contents: the results that an artifact was made from, by their digests, which differ between machines.

They are kept beside the results from the moment that the artifact is written, and in ``made.json`` from the moment that
all reports are.
"""

from pathlib import Path

from recompose.digest import sha256_file
from recompose.files import read_json, write_json
from recompose.tables.lineage import CONTENTS_FORM, UNREADABLE, Made, lineage_path
from recompose.workspace import Workspace

FOLDER = "contents"  # below results/


def write_contents(work: Workspace, artifact: str, contents: dict[str, str]) -> None:
    """Keep the contents that an artifact was made from, after its lineage was written."""
    lineage = sha256_file(lineage_path(work.reports / artifact))
    write_json(_path(work, artifact), {"lineage": {"sha256": lineage}, "contents": contents})


def read_contents(work: Workspace, artifact: str, made: Made | None = None) -> dict[str, str]:
    """Return the digest of each content that an artifact was made from: as kept with its present lineage, otherwise as
    the reports hold it; none where it is not known.
    """
    try:
        kept = CONTENTS_FORM.validate_python(read_json(_path(work, artifact)))
        if kept["lineage"]["sha256"] == sha256_file(lineage_path(work.reports / artifact)):
            return kept["contents"]
    except (*UNREADABLE, LookupError):
        pass
    return (made or Made.read(work.reports)).contents(artifact)


def _path(work: Workspace, artifact: str) -> Path:
    return work.results / FOLDER / work.reports.name / f"{artifact}.json"
