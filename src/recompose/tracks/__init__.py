"""The tracks: one folder for each task protocol. A new track is a folder beside these, and a line here."""

from collections.abc import Iterator, Mapping

from recompose.params import TrackForm
from recompose.tracks.czsl import CZSL
from recompose.tracks.gzsl import GZSL
from recompose.tracks.plugins import Catalogue
from recompose.tracks.track import Track
from recompose.tracks.vlc import VLC

SHIPPED = Catalogue({track.name: track for track in (CZSL(), GZSL(), VLC())})


class Tracks(Mapping[str, Track]):
    """The tracks that this process uses: those of this package, or of the catalogue of the project that it works for.

    What is planned, and how params.yaml is read, follows from the catalogue of a workspace alone.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def use(self, catalogue: Catalogue) -> None:
        """Take the tracks of a project's catalogue in place of all former ones."""
        self._catalogue = catalogue

    @property
    def forms(self) -> dict[str, TrackForm]:
        """The part of params.yaml of each track."""
        return self._catalogue.forms

    def __getitem__(self, name: str) -> Track:
        return self._catalogue.tracks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalogue.tracks)

    def __len__(self) -> int:
        return len(self._catalogue.tracks)


TRACKS = Tracks(SHIPPED)
FORMS = SHIPPED.forms
