"""YAML 1.2 as params.yaml has it: what a scalar means, and what is no document."""

from typing import Any

import pytest
from ruamel.yaml import YAML

from recompose.errors import ParamsError
from recompose.params import documents
from recompose.params.documents import read_document, read_written
from tests.configuration import SHIPPED
from tests.errors import raises


def read(text: str) -> Any:
    return read_document(text, "a.yaml")


def by_ruamel(text: str) -> Any:
    """What another reader of YAML 1.2 makes of it: the one that DVC reads params.yaml with."""
    return YAML(typ="safe", pure=True).load(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("-.5", -0.5),
        (".inf", float("inf")),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("TRUE", True),
        ("on", "on"),
        ("tRUE", "tRUE"),
        ("", None),
        ("'1'", "1"),
        ("1:30", "1:30"),
        ("_1", "_1"),
        ("a: &x {k: 1}\nb: *x", {"a": {"k": 1}, "b": {"k": 1}}),
        ("a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3}", {"a": {"k": 1, "l": 2}, "b": {"k": 3, "l": 2}}),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(text: str, value: Any) -> None:
    assert read(text) == value == by_ruamel(text)
    assert type(read(text)) is type(value)


DEEP = ["[" * 100_000, "{a: " * 100_000]
NO_DOCUMENTS = ["!!int abc", "!!python/name:os.system ''", "a: *b", "&a [*a]", "---\na: 1\n---\nb: 1", "{a: 1, a: 2}"]
NO_DOCUMENTS += ["!!bool maybe", "a: !!timestamp now", "a: !!timestamp 2001-01-01", "? !!seq a\n: 1", "a: !!set {b}"]
NO_DOCUMENTS += DEEP
NO_DOCUMENTS += ["a: &a {k: 1}\nb: {<<: [*a, *a], c: 2}", "b: {<<: 3}"]


@pytest.mark.parametrize("text", NO_DOCUMENTS)
def test_what_is_no_document_of_plain_values_is_an_error(text: str) -> None:
    with raises(ParamsError, "no-yaml", "a.yaml"):
        read(text)


def test_aliases_share_no_parts_and_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    document = read("a: &x [1]\nb: *x")
    assert document["a"] == document["b"] and document["a"] is not document["b"]
    text = "\n".join(["a0: &a0 [1, 1]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))])
    monkeypatch.setattr(documents, "MOST", 999)  # reading more takes seconds
    with raises(ParamsError, "no-yaml") as error:
        read(text)
    assert "999" in str(error.value)


def test_every_value_has_its_line() -> None:
    written = read_written("a:\n  b: 1\n  c:\n    - 2\n    - {d: 3}\n", "a.yaml")
    places: list[tuple[str | int, ...]] = [(), ("a",), ("a", "b"), ("a", "c"), ("a", "c", 0), ("a", "c", 1, "d")]
    assert [written.origin_of(place) for place in places] == [f"a.yaml:{line}" for line in (1, 1, 2, 3, 4, 5)]
    assert written.origin_of(("a", "c", "missing")) == "a.yaml:3"


def test_no_part_of_the_shipped_file_is_shared() -> None:
    """An experiment writes each place of an anchor in turn, so that the last one wins."""
    assert not [event for event in YAML().parse(SHIPPED.read_text()) if getattr(event, "anchor", None)]
