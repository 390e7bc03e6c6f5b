"""The settings in which methods, variants or stored results differ."""

import json
from collections.abc import Mapping
from typing import Any

from recompose.files import Document
from recompose.recipes.plan import Recipe
from recompose.recipes.records import flat

ABSENT = "-"  # the text of a setting that a side does not have


def differing(documents: Mapping[str, Mapping[str, object]]) -> dict[str, Document]:
    """Return the settings in which documents differ: dotted name -> name of a document -> value.

    A document without a setting is left out of it.

    Example:
        >>> differing({"a": {"lr": 0.1, "lora": {"rank": 4}}, "b": {"lr": 0.1, "lora": {"rank": 8}}, "c": {"lr": 0.1}})
        {'lora.rank': {'a': 4, 'b': 8}}
    """
    settings = {name: dict(flat(document)) for name, document in documents.items()}
    names = dict.fromkeys(setting for values in settings.values() for setting in values)
    by_setting = {
        setting: {name: values[setting] for name, values in settings.items() if setting in values} for setting in names
    }
    return {
        setting: values
        for setting, values in by_setting.items()
        if len(values) < len(documents) or len({_key(value) for value in values.values()}) > 1
    }


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def value_text(value: Any) -> str:
    """Return a setting as people read it.

    >>> value_text(0.001), value_text(None), value_text([1, 2]), value_text("gelu")
    ('0.001', 'null', '[1, 2]', 'gelu')
    """
    return value if isinstance(value, str) else json.dumps(value, default=str)


def settings_of(evaluation: Recipe) -> Document:
    """Return all settings behind an evaluation: its own, those of the run that it scores, and its backbone."""
    run = evaluation.needs.get("run")
    settings: Document = {**(run.document["settings"] if run else {}), **evaluation.document["settings"]}
    settings["method"] = evaluation.labels["method"]
    if "backbone" in evaluation.needs:
        settings["backbone"] = evaluation.needs["backbone"].name
    return settings
