"""C-S-O: the plain three paths, of composition, state and object; Duplex's baseline."""

from recompose.tracks.czsl.methods.c_s_o.settings import CsoSettings
from recompose.tracks.czsl.methods.parts.three_path import ThreePath


class CSO(ThreePath):
    """Three paths without attention of texts to images."""

    settings_class = CsoSettings
