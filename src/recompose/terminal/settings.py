"""Tables of the settings in which two things differ."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from recompose.console import escape_markup
from recompose.provenance.settings_difference import SettingsDifference
from recompose.report.differing import ABSENT, value_text


def show_settings(console: Console, differences: Iterable[SettingsDifference]) -> None:
    """Print a table for each place: a row for each setting that differs."""
    for difference in differences:
        if not difference.settings:
            console.print(escape_markup(" · ".join(filter(None, (difference.place, "no setting differs")))))
            continue
        table = Table(
            "setting", escape_markup(difference.first), escape_markup(difference.second), box=None, pad_edge=False
        )
        if difference.place:
            console.print(escape_markup(difference.place))
        for setting, values in difference.settings.items():
            sides = (values.get(name, ABSENT) for name in (difference.first, difference.second))
            table.add_row(escape_markup(setting), *(escape_markup(value_text(value)) for value in sides))
        console.print(table)
