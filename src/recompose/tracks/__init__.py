"""The tracks: one folder for each task protocol. A new track is a folder beside these, and a line here."""

from collections.abc import Sequence

from recompose.plugins import Plugin
from recompose.tracks.czsl import CZSL
from recompose.tracks.extension import Extension
from recompose.tracks.gzsl import GZSL
from recompose.tracks.track import Track
from recompose.tracks.vlc import VLC

TRACKS: dict[str, Track] = {track.name: track for track in (CZSL(), GZSL(), VLC())}
FORMS = {name: track.form for name, track in TRACKS.items()}
_EXTENSION = Extension(TRACKS, FORMS)


def use_plugins(plugins: Sequence[Plugin]) -> None:
    """Add what plugins bring to the tracks, the forms of params.yaml and the papers, in place of other plugins.

    Raises:
        PluginError: a declaration names what does not exist, or takes a name that is in use.
    """
    _EXTENSION.use(plugins)
