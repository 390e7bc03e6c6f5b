"""Checks of arguments that several parts of the track take."""

from typing import Any, get_args

from recompose.errors import ArgumentError


def check_choice(name: str, choice: str, choices: Any) -> None:
    """Check that an argument is one of the values of a ``Literal``.

    Raises:
        ArgumentError: it is not.
    """
    if choice not in get_args(choices):
        raise ArgumentError(name, f"is {choice!r}, not one of {', '.join(get_args(choices))}")
