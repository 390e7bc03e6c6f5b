"""`recompose parameters`: what every parameter may be, or the values in use, each with the place that it comes from."""

import json
from collections.abc import Iterator

from rich.console import Console

from recompose.console import line, new_table
from recompose.errors import ParamsError
from recompose.params.loading import Keys
from recompose.params.mistakes import nearest
from recompose.params.reference import json_schema, reference
from recompose.params.schema import Params
from recompose.workspace import Workspace


def values_in_use(params: Params, path: str) -> Iterator[tuple[str, object, str]]:
    """Yield the values below a dotted path: each with its own path, and the file and line that it comes from.

    Raises:
        ParamsError: there is no such key.
    """
    value: object = params.model_dump(by_alias=True, warnings=False)  # pydantic expects the first of several sections
    keys = path.split(".")
    for depth, key in enumerate(keys):
        names = [*value] if isinstance(value, dict) else []
        if not isinstance(value, dict) or key not in value:
            place = ".".join(keys[: depth + 1])
            raise ParamsError(f"{place}: there is no such key{nearest(key, names)}", code="unknown-key", place=place)
        value = value[key]
    for leaf_keys, leaf in _leaves(value, tuple(keys)):
        written = params.written.at(leaf_keys)
        yield ".".join(leaf_keys), leaf, written.origin if written else "default"


def show_reference(work: Workspace, *, schema: bool) -> None:
    """Print what every parameter may be, or the JSON schema of params.yaml."""
    document = json_schema(work.catalogue.forms)
    print(json.dumps(document, indent=2) if schema else reference(document))


def show_values(work: Workspace, profile: str | None, path: str) -> None:
    """Print the values below a dotted path, in a profile."""
    params = work.load(profile)
    table = new_table([f"{path} in {params.profile}", "value", "from"])
    for name, value, origin in values_in_use(params, path):
        table.add_row(*map(line, (name.removeprefix(f"{path}."), json.dumps(value, ensure_ascii=False), origin)))
    Console().print(table)


def _leaves(value: object, place: Keys) -> Iterator[tuple[Keys, object]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*place, key))
    else:
        yield place, value
