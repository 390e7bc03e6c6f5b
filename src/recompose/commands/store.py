"""`recompose store`: what is kept of results, and what is recorded of them."""

from recompose.data.tracking import track
from recompose.errors import ProgramError
from recompose.phases import KINDS
from recompose.programs import dvc
from recompose.progress import say
from recompose.workspace import Workspace


def prune_results(work: Workspace, *, dry: bool) -> None:
    """Remove all results that no profile needs, or only list them."""
    keep = [recipe for plan in work.plans for recipe in plan.recipes]
    for key in work.store.prune(KINDS, keep, dry=dry):
        say(f"{'would remove' if dry else 'removed'} results/{key}")


def commit_digests(work: Workspace) -> None:
    """Write dvc.lock and data.dvc for the profile of params.yaml, or say why DVC cannot."""
    track(work.root, work.plan_of(work.load(None)).of("data"))
    try:
        dvc("commit", "--force", folder=work.root)
    except ProgramError as error:
        say(f"left out: the record of these results in dvc.lock and data.dvc ({error})")
