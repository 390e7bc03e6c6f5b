"""The tracks: one folder for each task protocol. A new track is a folder beside these, and a line here."""

from recompose.tracks.czsl import CZSL
from recompose.tracks.gzsl import GZSL
from recompose.tracks.track import Catalogue
from recompose.tracks.vlc import VLC

# without plugins: a workspace has a catalogue with those of its project
TRACKS = Catalogue({track.name: track for track in (CZSL(), GZSL(), VLC())})
