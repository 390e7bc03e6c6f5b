"""What is generated from the schema: a JSON schema, and a page of all parameters."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from recompose.params.reference import json_schema, reference
from recompose.tracks import TRACKS
from tests.configuration import parameters

pytestmark = pytest.mark.slow

DOCUMENT = parameters()
# where names are the user's own, and what is explained as a whole
NAMED = ("profiles", "backbones", "czsl.datasets", "gzsl.datasets", "vlc.datasets", "vlc.suites")
WHOLE = ("override", "per_dataset", "counts")


def leaves(value: Any, place: str = "") -> Iterator[str]:
    if isinstance(value, dict) and not place.endswith(WHOLE):
        for key, inner in value.items():
            yield from leaves(inner, f"{place}.{'<name>' if place in NAMED else key}".lstrip("."))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from leaves(inner, f"{place}.<number>")
    elif value != {}:
        yield place


def test_the_page_names_every_parameter_of_the_file() -> None:
    rows = dict(re.findall(r"^\| `(.+?)` \| (.*) \|$", reference(json_schema(TRACKS.forms)), flags=re.MULTILINE))
    places = set(leaves(DOCUMENT))
    assert len(places) > 100
    assert places <= rows.keys()


def test_every_parameter_and_every_section_is_described() -> None:
    schema = json_schema(TRACKS.forms)
    sections = {"Params": schema, **schema["$defs"]}
    # a section that stands in one place may say all in its docstring
    keys = [(key, value) for section in sections.values() for key, value in section.get("properties", {}).items()]
    assert [key for key, value in keys if not value.get("description") and "$ref" not in value] == []
    assert [name for name, section in sections.items() if not section.get("description")] == []
    assert json.loads(json.dumps(schema)) == schema
