"""The expectations of all tracks."""

from recompose.exhibits.expectations import Expectation
from recompose.exhibits.results import Results
from recompose.tracks import TRACKS
from recompose.tracks.track import function


def expectations(results: Results) -> list[Expectation]:
    """Return the expectations of every track of the profile that has the numbers for them."""
    places = [TRACKS[name].expectations for name in results.plan.tracks]
    return [expectation for place in places if place for expectation in function(place)(results)]
