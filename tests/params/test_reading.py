"""YAML 1.2 as params.yaml has it: what a scalar means, and what is no document."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from recompose.params.reading import RepeatedKeyError, read

TEXT = (Path(__file__).parents[2] / "params.yaml").read_text()


def by_ruamel(text: str) -> Any:
    """What another reader of YAML 1.2 makes of it: the one that DVC reads params.yaml with."""
    return YAML(typ="safe", pure=True).load(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("5.", 5.0),
        ("-.5", -0.5),
        (".5e+3", 500.0),
        (".inf", float("inf")),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", 3),
        ("-5", -5),
        ("1_000", 1000),
        ("TRUE", True),
        ("on", "on"),
        ("no", "no"),
        ("tRUE", "tRUE"),
        ("~", None),
        ("", None),
        ("''", ""),
        ("'1'", "1"),
        ("1:30", "1:30"),
        ("_1", "_1"),
        (".", "."),
        ("a: &x {k: 1}\nb: {<<: *x, k: 2}", {"a": {"k": 1}, "b": {"k": 2}}),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(text: str, value: Any) -> None:
    assert read(text) == value == by_ruamel(text)
    assert type(read(text)) is type(value)


@pytest.mark.slow
def test_the_parameters_are_what_another_reader_reads() -> None:
    assert read(TEXT) == by_ruamel(TEXT)


@pytest.mark.parametrize(
    ("text", "line"), [("a: 1\nb: 2\na: 3", 2), ("a: {b: 1,\n  b: 1}", 1), ("- {'a': 1, a: 1}", 0)]
)
def test_a_repeated_key_is_an_error_at_its_line(text: str, line: int) -> None:
    with pytest.raises(RepeatedKeyError) as error:
        read(text)
    assert error.value.problem_mark.line == line


@pytest.mark.parametrize(
    "text",
    ["!!int abc", "!!float x", "!!bool x", "!!timestamp x", "9" * 5000, "? [1]\n: 2", "!!python/name:os.system ''"],
)
def test_what_is_no_value_is_an_error_of_yaml(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        read(text)


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 100_000])
def test_a_text_that_is_nested_too_deep_is_no_crash(text: str) -> None:
    with pytest.raises(RecursionError):
        read(text)
