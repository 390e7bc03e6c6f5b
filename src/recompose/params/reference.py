"""The reference of params.yaml: a JSON schema for editors, and a page that lists every parameter."""

import json
from collections.abc import Iterator
from typing import get_args

from recompose.files import Document
from recompose.params.schema import Forms, file_schema

KINDS = {
    "object": "mapping",
    "string": "text",
    "integer": "whole number",
    "boolean": "`true`, `false`",
    "null": "`null`",
}
LIMITS = {
    "exclusiveMinimum": "above",
    "minimum": "at least",
    "exclusiveMaximum": "below",
    "maximum": "at most",
    "pattern": "like",
    "minItems": "at least",
    "maxItems": "at most",
}
INTRODUCTION = """# Parameters

Every parameter of `params.yaml`, by section.
In a path, `<name>` stands for a name of your own, and `<number>` for a position in a list.
"""


def json_schema(tracks: Forms) -> Document:
    """Return a JSON schema of the whole file.

    It requires no keys of a profile, which may omit those that its base has; ``load_params`` reports missing ones.
    """
    params = file_schema(tracks)
    schema, (_, profile) = params.model_json_schema(by_alias=True), get_args(params.model_fields["profiles"].annotation)
    for name in ("Profile", *profile.model_json_schema()["$defs"]):
        schema["$defs"][name].pop("required", None)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def reference(schema: Document) -> str:
    """Return a page in Markdown with every parameter, its allowed values and its meaning, by the schema of the file."""
    return f"{INTRODUCTION}\n{section_reference(schema, 'params.yaml')}"


def section_reference(schema: Document, title: str) -> str:
    """Return a part of a page in Markdown with every key of a file, by its schema."""
    return "\n".join(_section(schema, schema, "", title))


def _section(schema: Document, node: Document, place: str, title: str) -> Iterator[str]:
    """Yield a section with a table of its values, then its inner sections."""
    yield f"## {title}\n\n{' '.join(node.get('description', '').split())}\n"
    keys = {f"{place}{key}": value for key, value in node.get("properties", {}).items()}
    inner = {key: list(_sections(schema, value)) for key, value in keys.items()}
    if rows := [_row(key, value) for key, value in keys.items() if not inner[key]]:
        yield "\n".join(["| parameter | allowed values | meaning |", "| --- | --- | --- |", *rows, ""])
    for key, sections in inner.items():
        for ending, section in sections:
            branch = f" ({section['title']})" if len(sections) > 1 else ""
            yield from _section(schema, section, f"{key}{ending}.", f"`{key}{ending}`{branch}")


def _sections(schema: Document, node: Document) -> Iterator[tuple[str, Document]]:
    """Yield the sections that are allowed at a path, each after the path's ending: empty, a name, or a number."""
    if "$ref" in node:
        yield "", schema["$defs"][node["$ref"].rpartition("/")[2]]
    for branch in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from _sections(schema, branch)
    named = (node.get("additionalProperties"), *node.get("patternProperties", {}).values())
    for ending, inner in (*((".<name>", inner) for inner in named), (".<number>", node.get("items"))):
        if isinstance(inner, dict):
            yield from ((f"{ending}{further}", section) for further, section in _sections(schema, inner))


def _row(place: str, node: Document) -> str:
    default = f" Default: `{json.dumps(node['default'])}`." if "default" in node else ""
    cells = (text.replace("|", "\\|") for text in (_allowed(node), " ".join(node.get("description", "").split())))
    return f"| `{place}` | {' | '.join(cells)}{default} |"


def _allowed(node: Document) -> str:
    """Return the allowed values in words."""
    if branches := node.get("anyOf") or node.get("oneOf"):
        return " or ".join(map(_allowed, branches))
    if "const" in node or "enum" in node:
        return ", ".join(f"`{json.dumps(value)}`" for value in node.get("enum", [node.get("const")]))
    limits = ", ".join(f"{word} `{node[key]}`" for key, word in LIMITS.items() if key in node)
    kind = "list" if "items" in node else KINDS.get(node.get("type", ""), node.get("type", "anything"))
    items = f" of {_allowed(node['items'])}" if "items" in node else ""
    return f"{kind}{f' ({limits})' if limits else ''}{items}"
