"""Suites as users name them: published ones, those of plugins' forms, and entries of params.yaml."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from recompose.errors import DataError
from recompose.params.loading import PARAMS
from recompose.params.mistakes import nearest
from recompose.params.sections import Section
from recompose.tracks.vlc import VLC
from recompose.tracks.vlc.catalogue import ADAPTERS, PublishedSuite
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.params import IMAGES
from recompose.tracks.vlc.suites.catalogue import (
    FORMS,
    RESERVED,
    Adapters,
    check_form,
    known_forms,
    layout_of,
    read_suite,
)
from recompose.workspace import Workspace

ALL = "all"  # in place of names: every suite whose data is there
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class NamedSuite:
    """A suite, its form, and the folder of its files."""

    name: str
    form: str
    folder: str
    adapters: Adapters  # with those of plugins
    limit: Limit = UNLIMITED  # of its entry in params.yaml

    @property
    def layout(self) -> str:
        """The files that it requires."""
        return layout_of(self.form, self.folder, self.adapters)

    def read(self, root: Path, items: int | None = None) -> Suite:
        """Read the suite below a root of raw files, with so many items of a sub-task at most; None: as declared."""
        limit = self.limit if items is None else Limit(items)
        return read_suite(self.form, root, self.name, self.folder, limit, self.adapters)


@dataclass(frozen=True)
class KnownSuites:
    """The suites that can be named: published ones, entries of params.yaml or of plugins, and own ones in a form."""

    adapters: Adapters = field(default_factory=lambda: ADAPTERS)  # with those of plugins
    declared: Mapping[str, Section] = field(default_factory=dict)  # entries of params.yaml or of plugins

    @classmethod
    def of(cls, work: Workspace, names: Iterable[str]) -> Self:
        """Return those of a project, with the forms of its plugins and of installed ones. If all of these names are
        forms, or there is no params.yaml, there are no entries, and the parameters are not read.

        Raises:
            PluginError: a plugin is absent or wrong.
            ParamsError: the parameters, or a plugin's entries, have errors.
        """
        track = work.catalogue[VLC.name]
        forms = {ALL, *known_forms(track.adapters)}
        has_entries = (work.root / PARAMS).is_file() and any(":" not in name and name not in forms for name in names)
        return cls(track.adapters, track.section_of(work.params).suites if has_entries else {})

    def find(self, suite: str) -> NamedSuite:
        """Return the suite of a name: a form, for the suite of its name; an entry; or ``name:form`` for a suite of the
        user's own, in the folder of its name.

        Raises:
            DataError: there is no such suite or form, or the name cannot be that of a suite of the user's own.

        Example:
            >>> KnownSuites().find("winoground").folder, KnownSuites().find("my-suite:winoground").folder
            ('winoground', 'my-suite')
        """
        forms = known_forms(self.adapters)
        name, colon, form = suite.partition(":")
        if colon:
            _check_name(suite, name, forms)
            check_form(form, self.adapters, name)
            return NamedSuite(name, form, name, self.adapters)
        if name in self.declared and name not in FORMS:
            return self._declared_suite(name, self.declared[name])
        if name not in forms:
            names = [*forms, *self.declared]
            hint = nearest(name, names) or f"; there are {', '.join(names)}"
            remedy = "one of your own is an entry of params.yaml or of a plugin, or named with its form"
            message = f"there is no suite {name!r} here{hint}; {remedy}, my-suite:winoground"
            raise DataError(message, code="unknown-suite", place=name)
        return NamedSuite(name, name, name, self.adapters)

    def _declared_suite(self, name: str, entry: Section) -> NamedSuite:
        """Return the suite of an entry.

        Raises:
            DataError: its files are generated.
        """
        if not isinstance(entry, PublishedSuite):
            message = f"{name} is generated for each replicate: name its suites, such as aro, and its folder by --data"
            raise DataError(message, code="synthetic-suite", place=name)
        limit = Limit(entry.items, entry.items_seed)
        return NamedSuite(name, entry.adapter, entry.folder or name, self.adapters, limit)

    def find_all(self, requested: Sequence[str]) -> dict[str, NamedSuite]:
        """Return the requested suites, by what was requested; see ``find``.

        Raises:
            DataError: one is unknown, or two have the same name.
        """
        suites = {entry: self.find(entry) for entry in dict.fromkeys(requested)}
        names = [suite.name for suite in suites.values()]
        if twice := [name for name in names if names.count(name) > 1]:
            message = f"two suites have the name {twice[0]}: evaluate them separately"
            raise DataError(message, code="same", place=twice[0])
        return suites


def _check_name(suite: str, name: str, forms: Sequence[str]) -> None:
    """Check that a suite of the user's own can have a name.

    Raises:
        DataError: other scores have it, or it has other signs.
    """
    reason = ""
    if name in RESERVED or name in forms:
        reason = "suites of this form or their means have it"
    elif name == IMAGES:
        reason = "the images of all suites are in the folder of this name"
    elif not NAME.fullmatch(name):
        reason = "it has letters, digits, - and _"
    if reason:
        message = f"{suite}: {name!r} is no name of a suite of your own: {reason}"
        raise DataError(message, code="wrong-name", place=suite)
