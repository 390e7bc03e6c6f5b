"""Merging of documents."""

from collections.abc import Mapping
from typing import Any

from recompose.files import Document


def merged(*documents: Mapping[str, object]) -> Document:
    """Return the merged documents, later ones last: mappings merge, all other values replace.

    >>> merged({"lr": 0.1, "training": {"epochs": 2, "sizes": [1, 2]}}, {"training": {"sizes": [3]}})
    {'lr': 0.1, 'training': {'epochs': 2, 'sizes': [3]}}
    """
    result: Document = {}
    for document in documents:
        for key, value in document.items():
            former = result.get(key)
            if isinstance(value, Mapping) and isinstance(former, Mapping):
                result[key] = merged(former, value)
            else:
                result[key] = plain(value)
    return result


def plain(value: Any) -> Any:
    """Return a copy that shares no parts, as YAML's aliases do.

    >>> shared = [1]
    >>> copied = plain({"a": shared, "b": shared})
    >>> copied["a"] is copied["b"]
    False
    """
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value
