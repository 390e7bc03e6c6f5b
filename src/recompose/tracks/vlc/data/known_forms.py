"""All forms of suites that are known here: those of published suites, and those of plugins."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Protocol, TypeAlias, cast

from recompose.errors import DataError
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.catalogue import CaptionAdapter
from recompose.tracks.vlc.data import suites_on_disk
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit, SuiteFiles
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.suites_on_disk import FORMS

Adapters: TypeAlias = Mapping[str, CaptionAdapter]


class PluginForm(Protocol):
    """A module of a plugin that reads suites of one form."""

    LAYOUT: str  # the required files; <suite> is the suite's folder

    @staticmethod
    def read(files: SuiteFiles) -> Suite:
        """Read a suite."""


def known_forms(adapters: Adapters) -> list[str]:
    """Return the names of all forms among these adapters, those of published suites first."""
    return [name for name, adapter in adapters.items() if adapter.kind == "suites" and not adapter.synthetic]


def check_form(form: str, adapters: Adapters, suite: str = "") -> None:
    """Check that a form is known here.

    Args:
        form: the form.
        adapters: the formats of the track, with those of plugins.
        suite: the suite that is in it, for the message.

    Raises:
        DataError: there is no such form; the message names the nearest one.
    """
    if form not in (known := known_forms(adapters)):
        message = f"{suite}{': ' if suite else ''}there is no form of suites {form!r} here{nearest(form, known)}"
        remedy = "that of a plugin needs the plugin installed, or a project that names it"
        raise DataError(f"{message}; {remedy}", code="unknown-suite", place=form)


def layout_of(form: str, folder: str, adapters: Adapters) -> str:
    """Return the files that a suite of a form requires in its folder, below the root of raw files, on one line."""
    if form in FORMS:
        return suites_on_disk.layout_of(form, folder)
    return "; ".join(_plugin_form(form, adapters).LAYOUT.replace("<suite>", folder).splitlines())


def read_suite(form: str, root: Path, name: str, folder: str, adapters: Adapters, limit: Limit = UNLIMITED) -> Suite:
    """Read a suite below a root of raw files.

    Args:
        form: its form.
        root: the root of raw files.
        name: of the suite.
        folder: of its files.
        adapters: the formats of the track, with those of plugins.
        limit: the largest number of items of a sub-task, of forms that can be limited.

    Raises:
        DataError: there is no such form, or files are missing or of another form.
    """
    if form in FORMS:
        return suites_on_disk.read_suite(form, root, name, folder, limit)
    files = SuiteFiles(root, form, name, folder, layout_of(form, folder, adapters), limit)
    return replace(_plugin_form(form, adapters).read(files), own_rules=adapters[form].rules)


def _plugin_form(form: str, adapters: Adapters) -> PluginForm:
    check_form(form, adapters)
    return cast(PluginForm, import_module(adapters[form].module))
