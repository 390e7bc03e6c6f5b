"""Words and numbers for a terminal. What stands in files and names is no markup, and commands nothing to a terminal."""

from datetime import timedelta

from rich.markup import escape

from recompose.palette import STATES


def plain(text: str) -> str:
    """Text from a file on one line, with a sign in place of everything that cannot be printed."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def unmarked(text: str) -> str:
    """The same, for where rich would take brackets for markup."""
    return escape(plain(text))


def spoken(seconds: float) -> str:
    """A span of time as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def clock(seconds: float) -> str:
    """A span of time as hours and minutes.

    >>> clock(40), clock(3 * 3600 + 100)
    ('0:01', '3:02')
    """
    minutes = round(seconds / 60) or int(seconds > 0)
    return f"{minutes // 60}:{minutes % 60:02}"


def rough(seconds: float) -> str:
    """A span of time that is only about known, in the one unit that suits it.

    >>> rough(45), rough(700), rough(20_000), rough(1_000_000)
    ('45 s', '12 min', '5.6 h', '278 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes, hours = seconds / 60, seconds / 3600
    return f"{minutes:.0f} min" if minutes < 90 else f"{hours:.{0 if hours >= 100 else 1}f} h"


def counted(number: int, one: str, several: str = "") -> str:
    """A number of things."""
    return f"{number} {one if number == 1 else several or f'{one}s'}"


def colour_of(state: str) -> str:
    """The colour of a state of trust."""
    return STATES.get(state, "red")


def gibibytes(count: int | None) -> str:
    """An amount of memory, empty where it is not known.

    >>> gibibytes(3 * 2**29), gibibytes(2**25), gibibytes(None)
    ('1.5 GiB', '32 MiB', '')
    """
    if count is None:
        return ""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 / 10 else f"{count / 2**20:.0f} MiB"
