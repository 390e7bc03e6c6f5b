"""Sections of the shipped parameters that the papers of a track share."""

from functools import cache

from recompose.params import parse_params
from recompose.tracks import FORMS
from recompose.tracks.vlc.params import Vlc
from tests.configuration import params_text


@cache
def section() -> Vlc:
    found = parse_params(params_text("paper"), FORMS).tracks["vlc"]
    assert isinstance(found, Vlc)
    return found
