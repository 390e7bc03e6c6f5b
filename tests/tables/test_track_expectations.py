"""What each track expects of its numbers."""

import pytest

from recompose.tracks import TRACKS
from recompose.tracks.track import function
from tests.tables.fakes import Fake, by_seed


@pytest.mark.parametrize(("accuracy", "holds"), [(0.25, False), (0.26, True)])
def test_chance_is_one_in_so_many_unseen_classes(accuracy: float, holds: bool) -> None:
    results = Fake({"eszsl": {"d": by_seed({"test/accuracy": accuracy})}}, counts={"unseen_classes": 4})
    (found,) = function(TRACKS["gzsl"].expectations)(results)
    assert found.holds is holds


def test_every_track_says_what_has_to_hold_of_it() -> None:
    assert all(callable(function(track.expectations)) for track in TRACKS.values())
