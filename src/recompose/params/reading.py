"""YAML 1.2 as plain values: what params.yaml is written in, and what DVC reads it as.

PyYAML itself reads YAML 1.1, in which 1e-3 is a text, 010 is 8 and `on` is true: here scalars are told apart as in
YAML 1.2. Its parser in C takes a twentieth of the time of one in Python. Nodes are put together in Python, where a text
that is nested too deep is an error and no crash.
"""

import re
from typing import Any, ClassVar

import yaml
from yaml.composer import Composer, ComposerError

TAG = "tag:yaml.org,2002:"
BASES = {"0b": 2, "0o": 8, "0x": 16}
SCALARS = {  # what is one, and the characters that it begins with; all else is a text
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
    """A key that stands in a mapping for the second time."""


class _Reader(Composer, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The composer comes first: the C parser has one of its own."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # without those of YAML 1.1

    def __init__(self, text: str) -> None:
        Composer.__init__(self)
        super(Composer, self).__init__(text)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """The next mapping, in which no key stands twice."""
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if (key.tag, key.value) in seen:
                said = f"the key {key.value} stands here for the second time"
                raise RepeatedKeyError(None, None, said, key.start_mark)
            seen.add((key.tag, key.value))
        return node

    def integer(self, node: yaml.ScalarNode) -> int:
        """A whole number, with underscores between its digits where it has some."""
        digits = str(self.construct_scalar(node)).replace("_", "")
        return int(digits, BASES.get(digits[:2], 10))


for _name, (_pattern, _first) in SCALARS.items():
    _Reader.add_implicit_resolver(f"{TAG}{_name}", re.compile(rf"(?:{_pattern})\Z"), list(_first))
_Reader.add_implicit_resolver(f"{TAG}null", re.compile(r"\Z"), [""])  # where nothing stands
_Reader.add_constructor(f"{TAG}int", _Reader.integer)


def read(text: str) -> Any:
    """The document as dicts, lists and scalars.

    Raises:
        yaml.YAMLError: it is no YAML, or a key of it stands twice.
        RecursionError: it is nested too deep.
    """
    try:
        return yaml.load(text, _Reader)
    except (ValueError, KeyError, AttributeError) as error:  # of what a tag says it is, and is not
        raise yaml.YAMLError(f"a value is not what its tag says: {error}") from None
