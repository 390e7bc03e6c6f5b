"""Messages about mistakes: the place, the allowed values, the nearest right name."""

import difflib
import types
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from recompose.errors import ParamsError
from recompose.files import Document

Place = tuple[str | int, ...]
CODES = {  # pydantic's name of a mistake -> ours; all others are wrong values
    "extra_forbidden": "unknown-key",
    "missing": "missing-key",
    "union_tag_not_found": "missing-key",
    "literal_error": "unknown-name",
    "union_tag_invalid": "unknown-name",
    "model_type": "no-section",
    "model_attributes_type": "no-section",
}
KINDS = {  # pydantic's name of a mistake -> the kind of value that is right
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "none_required": "null",
}
LIMITS = {
    "greater_than": "above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "below {lt}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
    "too_short": "at least {min_length} items",
    "too_long": "at most {max_length} items",
    "string_too_short": "a text of at least {min_length} characters",
}


class Problem(NamedTuple):
    """A mistake in a document, with its path of keys."""

    place: Place
    message: str
    code: str = "wrong-value"

    @property
    def path(self) -> str:
        """The dotted path of its keys."""
        return ".".join(map(str, self.place))

    def inside(self, *keys: str | int) -> "Problem":
        """Return the same problem with its path seen from an outer section."""
        return self._replace(place=(*keys, *self.place))

    @property
    def line(self) -> str:
        """The line of an error message."""
        return f"{self.path or 'the file'}: {self.message}"


def params_error(heading: str, problems: Sequence[Problem]) -> ParamsError:
    """Return an error with a line and a place for each problem, and the code of the first."""
    lines = [f"  {problem.line}" for problem in problems]
    message = "\n".join([heading, *lines]) if len(lines) > 1 else f"{heading} {problems[0].line}"
    return ParamsError(message, code=problems[0].code, place=", ".join(problem.path for problem in problems))


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Return the end of a sentence with the nearest right name, or an empty string.

    >>> nearest("cps", ["clip", "csp"]) + nearest("vit-b-32", ["ViT-S-32", "ViT-B-32"])
    "; the nearest is 'csp'; the nearest is 'ViT-B-32'"
    """
    names = {right.casefold(): right for right in allowed}
    close = difflib.get_close_matches(name.casefold(), list(names), n=1, cutoff=0.4)
    return f"; the nearest is '{names[close[0]]}'" if close else ""


def unknown_name(place: Place, name: str, allowed: Collection[str]) -> list[Problem]:
    """Return the problem of a name that is not allowed; an empty list if it is."""
    return [] if name in allowed else [Problem(place, _not_allowed(name, allowed), "unknown-name")]


def mistakes_in(document: Any, model: type[BaseModel]) -> list[Problem]:
    """Return all problems of a document by the schema of a section."""
    try:
        model.model_validate(document)
    except ValidationError as error:
        problems: dict[Place, Problem] = {}
        for details in error.errors():
            place = _place(details, document)
            # a union reports every branch that does not fit: the first message for a place is enough
            code = CODES.get(details["type"], "wrong-value")
            problems.setdefault(place, Problem(place, _explained(details, model), code))
        return list(problems.values())
    return []


def _not_allowed(name: Any, allowed: Iterable[str]) -> str:
    allowed = list(allowed)
    return f"'{name}' is not allowed{nearest(str(name), allowed)}; allowed: {', '.join(allowed)}"


def _explained(error: ErrorDetails, model: type[BaseModel]) -> str:
    location, context = error["loc"], error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            allowed = _keys_at(model, location[:-1])
            return (
                f"there is no key '{location[-1]}'{nearest(str(location[-1]), allowed)}; allowed: {', '.join(allowed)}"
            )
        case "missing" | "union_tag_not_found":
            return "this key is missing"
        case "literal_error":
            return _not_allowed(error["input"], _quoted(context["expected"].replace(" or ", ", ")))
        case "union_tag_invalid":
            return _not_allowed(context["tag"], _quoted(context["expected_tags"]))
        case "model_type" | "model_attributes_type":
            return f"this is a section with keys of its own, not {error['input']!r}"
        case "value_error":
            return str(context["error"])
        case "string_pattern_mismatch":
            return f"this is like `{context['pattern']}`, not {error['input']!r}"
        case kind if kind in KINDS:
            return f"this is {KINDS[kind]}, not {error['input']!r}"
        case kind if kind in LIMITS:
            return f"this is {LIMITS[kind].format(**context)}, not {error['input']!r}"
    return f"{error['msg'][0].lower()}{error['msg'][1:]}, not {error['input']!r}"


def _quoted(names: str) -> list[str]:
    return [name.strip(" '") for name in names.split(",")]


def _place(error: ErrorDetails, document: Any) -> Place:
    """Return the keys of an error, without the names of a union's branches, which pydantic adds."""
    place: list[str | int] = []
    for part in error["loc"]:
        if (isinstance(document, dict) and part in document) or (isinstance(document, list) and isinstance(part, int)):
            document = document[part]  # type: ignore[index]
            place.append(part)
    if error["type"] == "missing":
        place.append(error["loc"][-1])
    if error["type"].startswith("union_tag"):
        place.append(error["ctx"]["discriminator"].strip("'"))
    return tuple(place)


def _keys_at(model: type[BaseModel], location: Place) -> list[str]:
    """Return the keys of the schema's section at this location."""
    kinds: list[Any] = [model]
    for part in location:
        kinds = [inner for kind in kinds for inner in _inside(kind, part)]
    return [key for kind in kinds if _is_section(kind) for key in _fields(kind)]


def _inside(kind: Any, part: str | int) -> list[Any]:
    """Return the schema's kinds of values at a key, or of the branch of a union that has this name."""
    if _is_section(kind):
        fields = _fields(kind)
        if part in fields:
            return _branches(fields[str(part)])
        return [kind] if _has_tag(kind, part) else []
    return _branches(get_args(kind)[-1]) if get_origin(kind) in (dict, list) else []


def _has_tag(section: type[BaseModel], tag: str | int) -> bool:
    literals = (field.annotation for field in section.model_fields.values() if get_origin(field.annotation) is Literal)
    return section.__name__ == tag or any(tag in get_args(literal) for literal in literals)


def _branches(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _branches(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [branch for inner in get_args(annotation) for branch in _branches(inner)]
    return [annotation]


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _fields(section: type[BaseModel]) -> Document:
    return {field.alias or name: field.annotation for name, field in section.model_fields.items()}
