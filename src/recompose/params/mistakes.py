"""Messages about mistakes: the place, the allowed values, the nearest right name."""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from recompose.digest import short
from recompose.errors import ParamsError, RecomposeError, UnknownError
from recompose.params.documents import Place, Written, read_file

MATCHES = 8  # keys that an error names
FEW = 40  # names that an error lists
QUOTED = re.compile(r"'([^']*)'")  # the names in pydantic's messages


class Keyed(BaseModel):
    """A part of a file whose unknown keys are errors that name the nearest right one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, document: Any) -> Any:
        if isinstance(document, dict):
            allowed = [field.alias or name for name, field in cls.model_fields.items()]
            if unknown := [key for key in document if key not in allowed]:
                context = {"keys": unknown, "allowed": allowed}
                raise PydanticCustomError("unknown_keys", "unknown keys {keys}; allowed: {allowed}", context)
        return document


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


def as_error(problems: Iterable[Problem], written: Written, kind: type[RecomposeError] = ParamsError) -> RecomposeError:
    """Return an error with a line for each problem, and the code of the first.

    Args:
        problems: at least one; what several places inherit from one line is said once.
        written: the document; each line of the message begins with the origin of the value.
        kind: of the error.
    """
    by_line: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        by_line.setdefault((written.origin_of(problem.place), problem.message), problem)
    lines = [f"{line}: {problem.path or 'the file'}: {message}" for (line, message), problem in by_line.items()]
    found = [*by_line.values()]
    file, place = written.origin.rpartition(":")[0], ", ".join(problem.path for problem in found)
    error = kind("\n".join(lines), code=found[0].code, place=f"{file}: {place}" if file else place)
    error.problems = found
    return error


class UserFile(Keyed):
    """The content of a file that a user wrote; it knows the line of each of its values."""

    fault: ClassVar[type[RecomposeError]] = ParamsError  # the class of errors about it
    _written: Written = PrivateAttr(default=Written({}, ""))

    @classmethod
    def read(cls, file: Path, source: str, /, **given: object) -> Self:
        """Return the content of a file.

        Args:
            file: the YAML; an empty one has no keys.
            source: its name for messages.
            given: keys that are not in the file.

        Raises:
            RecomposeError: it cannot be read or is no YAML, or it has mistakes; the message has a line for each.
        """
        return cls.of(read_file(file, source, cls.fault), **given)

    @classmethod
    def of(cls, written: Written, /, **given: object) -> Self:
        """Return the content of a document."""
        document = written.document
        document = {**(document or {}), **given} if isinstance(document, dict | None) else document
        try:
            content = cls.model_validate(document)
        except ValidationError as error:
            raise as_error(problems_of(error, document), written, cls.fault) from None
        content._written = written
        return content

    @property
    def written(self) -> Written:
        """The document, with the line of each value."""
        return self._written

    def error(self, problems: Iterable[Problem]) -> RecomposeError:
        """Return an error about values of this file."""
        return as_error(problems, self._written, self.fault)


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
    if name in allowed:
        return []
    listed = f"; allowed: {', '.join(allowed)}" if len(allowed) <= FEW else ""
    message = f"'{name}' is not allowed{nearest(str(name), allowed)}{listed}"
    return [Problem(place, message, "unknown-name")]


def key_of(start: str, keys: Iterable[str], where: str, others: Collection[str] = ()) -> str:
    """Return the key, such as ``runs/0123456789ab``, that starts with a text, or whose digest does.

    Args:
        start: the first characters of a digest, or of a path below the project such as ``results/runs/0123``.
        keys: those to choose from.
        where: they are from, for messages.
        others: names of other things, which the text may be meant for.

    Raises:
        UnknownError: no key starts like this, or several do; the message names the nearest.
    """
    kind, slash, digest = start.removeprefix("results/").rstrip("/").rpartition("/")
    prefix = f"{kind}{slash}{short(digest)}"
    digests = {key: key.partition("/")[2] for key in keys}
    matches = [key for key, own in digests.items() if prefix and (key.startswith(prefix) or own.startswith(prefix))]
    if not matches:
        known = [*others, *(digests if slash else digests.values())]
        message = f"nothing in {where} starts with {start!r}{nearest(prefix, known)}"
        raise UnknownError(message, code="unknown-key", place=start)
    if len(matches) > 1:
        named = ", ".join([*matches[:MATCHES], *(["..."] if len(matches) > MATCHES else [])])
        message = f"{len(matches)} results in {where} start with {start!r}: {named}; add characters"
        raise UnknownError(message, code="ambiguous-key", place=start)
    return matches[0]


def problems_of(error: ValidationError, document: Any) -> list[Problem]:
    """Return the problems of a document that pydantic found, each place once."""
    problems: dict[Place, Problem] = {}
    for details in error.errors():
        for problem in _problems(details, document):
            # a union reports every branch that does not fit: the first message for a place is enough
            problems.setdefault(problem.place, problem)
    return list(problems.values())


def _problems(error: ErrorDetails, document: Any) -> Iterator[Problem]:
    place, context, value = _place(error["loc"], document), error.get("ctx", {}), error["input"]
    match error["type"]:
        case "unknown_keys":
            allowed = context["allowed"]
            for key in context["keys"]:
                message = f"there is no key '{key}'{nearest(str(key), allowed)}; allowed: {', '.join(allowed)}"
                yield Problem((*place, key), message, "unknown-key")
        case "missing":
            yield Problem((*place, error["loc"][-1]), "this key is missing", "missing-key")
        case "union_tag_not_found":
            yield Problem((*place, context["discriminator"].strip("'")), "this key is missing", "missing-key")
        case "union_tag_invalid":
            names = QUOTED.findall(context["expected_tags"])
            yield from unknown_name((*place, context["discriminator"].strip("'")), context["tag"], names)
        case "literal_error":
            yield from unknown_name(place, value, QUOTED.findall(context["expected"]))
        case "model_type" | "model_attributes_type":
            yield Problem(place, f"this is a section with keys of its own, not {value!r}", "no-section")
        case "value_error":
            yield Problem(place, str(context["error"]))
        case _:
            yield Problem(place, f"{error['msg'][0].lower()}{error['msg'][1:]}, not {value!r}")


def _place(location: Place, document: Any) -> Place:
    """Return the keys of an error, without the names of a union's branches, which pydantic adds."""
    place: list[str | int] = []
    for part in location:
        if (isinstance(document, dict) and part in document) or (isinstance(document, list) and isinstance(part, int)):
            document = document[part]  # type: ignore[index]
            place.append(part)
    return tuple(place)
