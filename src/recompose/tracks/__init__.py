"""The tracks: one folder for each task protocol. A new track is a folder beside these, and a line here."""

from recompose.tracks.czsl import CZSL
from recompose.tracks.gzsl import GZSL
from recompose.tracks.track import Track
from recompose.tracks.vlc import VLC

TRACKS: dict[str, Track] = {track.name: track for track in (CZSL(), GZSL(), VLC())}
FORMS = {name: track.form for name, track in TRACKS.items()}
MODEL_TRACK: Track = TRACKS[VLC.name]  # evaluates any model on its suites, for ``recompose evaluate``
