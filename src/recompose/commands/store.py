"""`recompose store`: what is kept of results, and what is recorded of them."""

from dataclasses import replace

from recompose.data.tracking import track
from recompose.errors import ProgramError
from recompose.phases import FOLLOWING, KINDS
from recompose.programs import dvc
from recompose.progress import say
from recompose.tables.reports import Reports
from recompose.workspace import Workspace


def prune_results(work: Workspace, *, dry: bool) -> None:
    """Remove all results that no profile needs, or only list them."""
    profiles = (replace(work, edits=(), profile=name) for name in work.params.profiles)
    keep = [recipe for profile in profiles for recipe in Reports(profile).by_key.values()]
    for key in work.store.prune((*KINDS, *FOLLOWING), keep, dry=dry):
        say(f"{'would remove' if dry else 'removed'} results/{key}")


def commit_digests(work: Workspace) -> None:
    """Write dvc.lock and data.dvc for the profile of params.yaml, or say why DVC cannot."""
    track(work.root, work.plan_of(work.load(None)).of("data"))
    try:
        dvc("commit", "--force", folder=work.root)
    except ProgramError as error:
        say(f"left out: the record of these results in dvc.lock and data.dvc ({error})")
