"""Tables of the reports whose lines are models: read with messages that name the line, and written."""

import csv
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from recompose.errors import LineageError
from recompose.records import complaint

Line = TypeVar("Line", bound=BaseModel)


def read_lines(model: type[Line], path: Path, remedy: str, code: str) -> tuple[Line, ...]:
    """Return the lines of a file; none if there is no file.

    Raises:
        LineageError: it is invalid; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise LineageError(f"{path} cannot be read: {error}; {remedy}", code=code, place=path) from None
    return parse_lines(model, text, path, remedy, code)


def parse_lines(model: type[Line], text: str, path: object, remedy: str, code: str) -> tuple[Line, ...]:
    """Return the lines of a file with this text; the path is for messages.

    Raises:
        LineageError: a line is invalid.
    """
    lines = []
    for number, row in enumerate(csv.DictReader(StringIO(text)), start=2):
        try:
            lines.append(model.model_validate({str(name): value for name, value in row.items()}))
        except ValidationError as error:
            message = f"{path}:{number}: {complaint(error)}; {remedy}"
            raise LineageError(message, code=code, place=f"{path}:{number}") from None
    return tuple(lines)


def lines_text(model: type[Line], lines: Iterable[Line]) -> str:
    """Return the text of a file with these lines."""
    stream = StringIO()
    writer = csv.DictWriter(stream, [*model.model_fields], lineterminator="\n")
    writer.writeheader()
    writer.writerows(line.model_dump() for line in lines)
    return stream.getvalue()
