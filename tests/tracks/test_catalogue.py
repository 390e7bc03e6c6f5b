"""Entries of catalogues lead to classes."""

import pytest

from recompose.fingerprint import path_of
from recompose.tracks.catalogue import Method
from recompose.tracks.czsl import catalogue as czsl
from recompose.tracks.gzsl import catalogue as gzsl
from recompose.tracks.vlc import catalogue as vlc

METHODS = [method for track in (czsl, gzsl, vlc) for method in track.METHODS.values()]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.class_path)
def test_a_class_path_leads_to_a_class(method: Method) -> None:
    module, _, class_name = method.class_path.partition(":")
    assert method.module == module
    assert f"\nclass {class_name}" in path_of(module).read_text()
