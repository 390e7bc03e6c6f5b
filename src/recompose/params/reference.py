"""The reference of params.yaml: a JSON schema for editors, and a page that lists every parameter."""

from collections.abc import Iterator
from typing import Any

from recompose.files import Document
from recompose.params.schema import Forms, file_schema
from recompose.params.sections import Section

Node = Document

KINDS = {
    "object": "mapping",
    "string": "text",
    "integer": "whole number",
    "boolean": "`true`, `false`",
    "null": "`null`",
}
INTRODUCTION = """# Parameters

Every parameter of `params.yaml`, by section.
In a path, `<name>` stands for a name of your own, and `<number>` for a position in a list.
"""


def json_schema(tracks: Forms) -> Node:
    """Return a JSON schema of the whole file.

    A profile may omit keys that its base has, so the schema requires none; ``load_params`` reports missing keys.
    """
    schema = file_schema(tracks).model_json_schema(by_alias=True)
    for name in _reachable(schema, schema["$defs"]["Profile"]) | {"Profile"}:
        schema["$defs"][name].pop("required", None)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def reference(tracks: Forms) -> str:
    """Return a page in Markdown with every parameter's path, allowed values and meaning."""
    schema = json_schema(tracks)
    return "\n".join([INTRODUCTION, *_section(schema, schema, "", "params.yaml")])


def section_reference(section: type[Section], title: str) -> str:
    """Return a part of a page in Markdown with every key of a file, its allowed values and its meaning."""
    schema = section.model_json_schema(by_alias=True)
    return "\n".join(_section(schema, schema, "", title))


def _reachable(schema: Node, node: Any) -> set[str]:
    """Return the names of all definitions that a part of a schema refers to."""
    if isinstance(node, list):
        return {name for item in node for name in _reachable(schema, item)}
    if not isinstance(node, dict):
        return set()
    names = {_name(node)} if "$ref" in node else set()
    definitions = [schema["$defs"][name] for name in names]
    return names | {name for item in (*node.values(), *definitions) for name in _reachable(schema, item)}


def _name(node: Node) -> str:
    return str(node["$ref"]).rpartition("/")[2]


def _section(schema: Node, node: Node, place: str, title: str) -> Iterator[str]:
    """Yield a section with a table of its values, then its inner sections."""
    yield f"## {title}\n\n{_line(node.get('description', ''))}\n"
    inner = {
        f"{place}{key}": (value, list(_sections(schema, value))) for key, value in node.get("properties", {}).items()
    }
    rows = [_row(key, value) for key, (value, sections) in inner.items() if not sections]
    if rows:
        yield "\n".join(["| parameter | allowed values | meaning |", "| --- | --- | --- |", *rows, ""])
    for key, (_, sections) in inner.items():
        for ending, section in sections:
            branch = f" ({section['title']})" if len(sections) > 1 else ""
            yield from _section(schema, section, f"{key}{ending}.", f"`{key}{ending}`{branch}")


def _sections(schema: Node, node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the sections that are allowed at a path, each after the path's ending: empty, a name, or a number."""
    if "$ref" in node:
        yield "", schema["$defs"][_name(node)]
    for branch in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from _sections(schema, branch)
    for inner in (node.get("additionalProperties"), *node.get("patternProperties", {}).values()):
        if isinstance(inner, dict):
            yield from ((f".<name>{ending}", section) for ending, section in _sections(schema, inner))
    if "items" in node:
        yield from ((f".<number>{ending}", section) for ending, section in _sections(schema, node["items"]))


def _row(place: str, node: Node) -> str:
    default = f" Default: {_code(node['default'])}." if "default" in node else ""
    return f"| `{place}` | {_cell(_allowed(node))} | {_cell(_line(node.get('description', '')))}{default} |"


def _allowed(node: Node) -> str:
    """Return the allowed values in words."""
    branches = node.get("anyOf") or node.get("oneOf")
    if branches:
        return " or ".join(map(_allowed, branches))
    if "const" in node or "enum" in node:
        return ", ".join(map(_code, node.get("enum", [node.get("const")])))
    if node.get("type") == "array":
        return f"list{_limits(node)} of {_allowed(node['items'])}"
    return KINDS.get(str(node.get("type")), str(node.get("type", "anything"))) + _limits(node)


def _limits(node: Node) -> str:
    words = {
        "exclusiveMinimum": "above {}",
        "minimum": "at least {}",
        "exclusiveMaximum": "below {}",
        "maximum": "at most {}",
        "pattern": "like `{}`",
    }
    limits = [words[key].format(node[key]) for key in words if key in node]
    least, most = node.get("minItems"), node.get("maxItems")
    if least is not None:
        limits.append(f"{least} items" if least == most else f"at least {least}")
    return f" ({', '.join(limits)})" if limits else ""


def _code(value: Any) -> str:
    text = (
        {True: "true", False: "false", None: "null"}.get(value) if value is None or isinstance(value, bool) else value
    )
    return f"`{text}`"


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
