"""The tracks: one folder for each task protocol. A new track is a folder beside these, and a line here."""

from collections import UserDict

from recompose.params.schema import TrackForm
from recompose.tracks.czsl import CZSL
from recompose.tracks.gzsl import GZSL
from recompose.tracks.plugins import Catalogue
from recompose.tracks.track import Track
from recompose.tracks.vlc import VLC

SHIPPED = Catalogue({track.name: track for track in (CZSL(), GZSL(), VLC())})


class Tracks(UserDict[str, Track]):
    """The tracks that this process uses: those of this package, or of the catalogue of the project that it works for.

    What is planned, and how params.yaml is read, follows from the catalogue of a workspace alone.
    """

    def use(self, catalogue: Catalogue) -> None:
        """Take the tracks of a project's catalogue in place of all former ones."""
        self.data = dict(catalogue.tracks)

    @property
    def forms(self) -> dict[str, TrackForm]:
        """The part of params.yaml of each track."""
        return {name: track.form for name, track in self.items()}


TRACKS = Tracks(SHIPPED.tracks)
FORMS = SHIPPED.forms
