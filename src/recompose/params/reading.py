"""A reader and a writer of YAML 1.2, the language of params.yaml, as DVC reads it.

PyYAML reads YAML 1.1, in which 1e-3 is a text, 010 is 8 and `on` is true; this reader resolves scalars as in YAML 1.2.
Its parser in C takes a twentieth of the time of one in Python. Nodes are composed in Python, where too deep nesting is
an error and not a crash.
"""

import re
from functools import lru_cache
from typing import Any, ClassVar

import yaml
from yaml.composer import Composer, ComposerError

from recompose.errors import ParamsError
from recompose.files import Document
from recompose.params.merging import plain

TAG = "tag:yaml.org,2002:"
BASES = {"0b": 2, "0o": 8, "0x": 16}
SCALARS = {  # kind -> its pattern and its first characters; all other scalars are texts
    "null": (r"~|null|Null|NULL", "~nN"),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?[0-9][0-9_]*|0b[01][01_]*|0o[0-7][0-7_]*|0x[0-9a-fA-F][0-9a-fA-F_]*", "-+0123456789"),
    "float": (
        r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|[-+]?\.[0-9][0-9_]*([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
    "merge": (r"<<", "<"),
}


class RepeatedKeyError(ComposerError):
    """An error about a key that a mapping has twice."""


class _Yaml12Loader(Composer, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A loader of YAML 1.2; the Python composer precedes that of the C parser."""

    yaml_implicit_resolvers: ClassVar[Document] = {}  # without those of YAML 1.1

    def __init__(self, text: str) -> None:
        Composer.__init__(self)
        super(Composer, self).__init__(text)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Return the next mapping, whose keys are distinct."""
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if (key.tag, key.value) in seen:
                raise RepeatedKeyError(None, None, f"the key {key.value} is repeated", key.start_mark)
            seen.add((key.tag, key.value))
        return node

    def integer(self, node: yaml.ScalarNode) -> int:
        """Return a whole number, which may have underscores between its digits."""
        digits = str(self.construct_scalar(node)).replace("_", "")
        return int(digits, BASES.get(digits[:2], 10))


class _Dumper(yaml.SafeDumper):
    """A writer that quotes each text which YAML 1.1 or YAML 1.2 would take for something else."""


for _name, (_pattern, _first) in SCALARS.items():
    for _resolver in (_Yaml12Loader, _Dumper):
        _resolver.add_implicit_resolver(f"{TAG}{_name}", re.compile(rf"(?:{_pattern})\Z"), list(_first))
_Yaml12Loader.add_implicit_resolver(f"{TAG}null", re.compile(r"\Z"), [""])  # an empty value
_Yaml12Loader.add_constructor(f"{TAG}int", _Yaml12Loader.integer)


def read(text: str) -> Any:
    """Return a document as dicts, lists and scalars.

    Raises:
        yaml.YAMLError: the text is not YAML, or a key is repeated.
        RecursionError: the text is nested too deep.
    """
    try:
        return yaml.load(text, _Yaml12Loader)
    except (ValueError, KeyError, AttributeError) as error:  # from a value that does not fit its tag
        raise yaml.YAMLError(f"a value does not fit its tag: {error}") from None


@lru_cache(maxsize=8)  # params.yaml is read for its plugins, and then for its parameters
def _read_once(text: str) -> Any:
    return read(text)


def read_document(text: str, source: str) -> Any:
    """Return a document as dicts, lists and scalars that share no parts.

    Args:
        text: the YAML.
        source: its file, or another name for messages.

    Raises:
        ParamsError: the text is not YAML, or a key is repeated.
    """
    place = source
    try:
        return plain(_read_once(text))
    except RecursionError:
        fault = "it is nested too deep, or an alias contains itself"
    except yaml.MarkedYAMLError as error:
        mark, fault = error.problem_mark, ", ".join(filter(None, (error.problem, error.context)))
        if mark:
            place, fault = f"{source}:{mark.line + 1}", f"line {mark.line + 1}, column {mark.column + 1}: {fault}"
    except yaml.YAMLError as error:
        fault = " ".join(str(error).split())
    raise ParamsError(f"{source} is not valid YAML: {fault}", code="no-yaml", place=place)


def document_text(document: Any) -> str:
    """Return the text of a document of dicts, lists and scalars; what has no parts of its own is in one paragraph.

    Lines break after the width, so it is well below the 120 columns of the project's files.
    """
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=50, default_flow_style=None)
