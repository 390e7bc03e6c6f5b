"""``data.dvc``: which raw data it names."""

import yaml

from recompose.data.tracking import TRACKED, track, tracked
from recompose.workspace import Workspace
from tests.conftest import ROOT


def folders(work: Workspace) -> list[str]:
    return [f"data/{recipe.name}-{recipe.folder}" for recipe in work.plan.of("data")]


def test_the_committed_file_names_a_folder_for_each_raw_data_set_of_the_default_profile() -> None:
    """Their digests are those of the last `make reproduce`."""
    names = [[path.rpartition("-")[0] for path in paths] for paths in (tracked(ROOT), folders(Workspace(ROOT)))]
    assert sorted(names[0]) == sorted(names[1])


def test_what_other_profiles_have_generated_is_not_named(work: Workspace) -> None:
    for folder in (*folders(work), "data/shapes-pairs-0123456789ab", "data/archives"):
        (work.root / folder).mkdir(parents=True)
    track(work.root, work.plan.of("data"))
    outs = yaml.safe_load((work.root / TRACKED).read_text())["outs"]
    assert sorted(out["path"] for out in outs) == sorted(folders(work))


def test_digests_stay_where_the_folders_are_the_same(work: Workspace) -> None:
    """DVC writes them, and leaves them out where it is told nothing of the folder."""
    for folder in folders(work):
        (work.root / folder).mkdir(parents=True)
    track(work.root, work.plan.of("data"))
    text = (work.root / TRACKED).read_text() + "# with digests\n"
    (work.root / TRACKED).write_text(text)
    track(work.root, work.plan.of("data"))
    assert (work.root / TRACKED).read_text() == text
