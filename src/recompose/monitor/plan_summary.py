"""The plan of a project as plain values: what a complete rerun would make.

Run as a script in the folder of a revision, with that revision's sources on the path, it prints the plan as JSON. It
therefore needs only what all revisions have.
"""

import json
import sys
from pathlib import Path

from recompose.files import Document
from recompose.metric_cache import metric_code_digest
from recompose.receipts import Receipts
from recompose.workspace import Workspace


def plan_document(work: Workspace) -> Document:
    """Return the digests of everything that a workspace asks for, and the places that they stand for."""
    plan, other = work.plan, work.plan.other_budget
    named = [(track, name, key) for track, section in plan.tracks.items() for name, key in section.evaluations]
    if other:
        tracks = other.plan.tracks.items()
        named += [(track, other.name_of(name), key) for track, section in tracks for name, key in section.evaluations]
    return {
        "profile": work.params.profile,
        "recipes": {recipe.digest: recipe.kind for recipe in plan.recipes},
        "evaluations": [
            [track, name, benchmark, [recipe.digest for recipe in plan.evaluations(track, name, benchmark)]]
            for track, name, benchmark in named
        ],
        "benchmarks": [
            [track, name, data.digest]
            for track, section in plan.tracks.items()
            for name, data in section.benchmarks.items()
        ],
        "artifacts": {f"{paper}/{name}": recipe.digest for (paper, name), recipe in Receipts(work).artifacts.items()},
        "metric_code": {track: metric_code_digest(track) for track in plan.tracks},
    }


if __name__ == "__main__":
    json.dump(plan_document(Workspace(Path.cwd())), sys.stdout)
