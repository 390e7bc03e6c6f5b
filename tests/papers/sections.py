"""Sections of the shipped parameters that the papers of a track share."""

from functools import cache

from recompose.tracks.vlc.params import Vlc
from tests.configuration import params_text, parse_params


@cache
def section() -> Vlc:
    found = parse_params(params_text("paper")).tracks["vlc"]
    assert isinstance(found, Vlc)
    return found
