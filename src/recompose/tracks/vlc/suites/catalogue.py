"""All suites: the modules of their forms, their sub-tasks and means, and readers of suites on disk.

A suite is a module of ``data/formats``, or one of a plugin. FSC-CLIP was evaluated with vl_compo, whose code was never
released; the means were recovered from its tables of 202 models, and reproduce all of their numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol, TypeAlias, cast

from recompose.errors import DataError
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.data import formats
from recompose.tracks.vlc.data.formats.sources import Source
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit, SuiteFiles
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.subtasks import Mean, SubTask, Tree, macro, name_of, names_in, renamed
from recompose.tracks.vlc.suites.tasks import WAYS


class Format(Protocol):
    """A module that reads suites of one form; a plugin's has LAYOUT and ``read`` alone."""

    LAYOUT: str  # the required files; <suite> is the suite's folder
    SOURCES: tuple[Source, ...]  # the published files
    SUBTASKS: tuple[SubTask, ...]
    MEANS: tuple[Tree, ...]  # the suite's own first
    LICENCE: str  # of annotations, and
    STATE: str  # the availability, of the suites in a paper's table of benchmarks
    # and, where they differ: IS_DRAWN (False: there is no synthetic data), IS_LIMITED (True: a setting may limit items)

    @staticmethod
    def read(files: SuiteFiles) -> Suite:
        """Read a suite."""


Adapters: TypeAlias = Mapping[str, Any]  # of ``vlc.catalogue``, which builds on this module
NONE: Adapters = {}


def _published() -> Iterator[tuple[str, Format]]:
    for module in iter_modules(formats.__path__, f"{formats.__name__}."):
        content = import_module(module.name)
        if hasattr(content, "SUBTASKS"):  # others are shared by several suites
            yield module.name.rpartition(".")[2], cast(Format, content)


PUBLISHED = dict(_published())
FORMS = tuple(PUBLISHED)  # the published suites, also the names of their folders
MODULES = {form: f"{formats.__name__}.{form}" for form in FORMS}
DRAWN = tuple(form for form, module in PUBLISHED.items() if getattr(module, "IS_DRAWN", True))
LIMITED = tuple(form for form, module in PUBLISHED.items() if getattr(module, "IS_LIMITED", False))
SUBTASKS = {task.name: task for module in PUBLISHED.values() for task in module.SUBTASKS}

_IN_COMP = (
    *("aro", "crepe", "eqben", "imagecode", "spec", "sugarcrepe"),
    *("svo_probes", "valse", "vl_checklist", "whatsup", "winoground"),
)
COMP = macro("comp", *(PUBLISHED[form].MEANS[0] for form in _IN_COMP))
ZS = cast(Mean, PUBLISHED["elevater"].MEANS[0])
RETRIEVAL = ("coco", "flickr30k", "coco_counterfactuals")
I2T_RET, T2I_RET = (macro(f"{way}_ret", *(f"{name}/{way}" for name in RETRIEVAL)) for way in WAYS)
OVER_SUITES = (COMP, ZS, I2T_RET, T2I_RET)
_INSIDE = {name for tree in OVER_SUITES for name in names_in(tree)}
OTHERS = tuple(tree for module in PUBLISHED.values() for tree in module.MEANS if name_of(tree) not in _INSIDE)
TREES: tuple[Tree, ...] = (*OVER_SUITES, *OTHERS)
# the first parts of the names of metrics
RESERVED = {*FORMS, "cae", *(name.split("/")[0] for tree in TREES for name in names_in(tree))}


def trees_of(form: str, name: str) -> tuple[Tree, ...]:
    """Return the trees of a suite under another name than the published one of its form.

    Example:
        >>> [tree.name for tree in trees_of("sugarcrepe", "mine")]
        ['mine', 'mine/micro']
        >>> trees_of("coco", "mine")
        ('mine/i2t', 'mine/t2i')
    """
    module = PUBLISHED.get(form)
    return tuple(renamed(tree, form, name) for tree in module.MEANS) if module else ()


def known_forms(adapters: Adapters) -> list[str]:
    """Return the names of all forms, those of published suites first."""
    own = (name for name, adapter in adapters.items() if adapter.kind == "suites" and not adapter.synthetic)
    return list(dict.fromkeys([*FORMS, *own]))


def check_form(form: str, adapters: Adapters = NONE, suite: str = "") -> None:
    """Check that a form is known.

    Args:
        form: the form.
        adapters: the formats of the track, with those of plugins.
        suite: the suite that is in it, for the message.

    Raises:
        DataError: there is no such form; the message names the nearest one.
    """
    if form not in (known := known_forms(adapters)):
        near = nearest(form, known) or f"; there are {', '.join(known)}"
        message = f"{suite}{': ' if suite else ''}there is no form of suites {form!r} here{near}"
        remedy = "that of a plugin needs the plugin installed, or a project that names it"
        raise DataError(f"{message}; {remedy}", code="unknown-suite", place=form)


def format_of(form: str, adapters: Adapters = NONE) -> Format:
    """Return the module that reads suites of a form.

    Raises:
        DataError: there is no such form.
    """
    check_form(form, adapters)
    return PUBLISHED[form] if form in FORMS else cast(Format, import_module(adapters[form].module))


def layout_of(form: str, folder: str = "", adapters: Adapters = NONE) -> str:
    """Return the files that a suite of a form requires, below the root of raw files, on one line.

    Args:
        form: the form.
        folder: the suite's folder; empty: that of the published suite.
        adapters: the formats of the track, with those of plugins.
    """
    layout = "; ".join(format_of(form, adapters).LAYOUT.replace("<suite>", folder or form).splitlines())
    is_fetched = form in FORMS and folder in ("", form)
    return f"{layout}; `recompose data fetch {form}` gets what is public" if is_fetched else layout


def read_suite(
    form: str, root: Path, name: str = "", folder: str = "", limit: Limit = UNLIMITED, adapters: Adapters = NONE
) -> Suite:
    """Read a suite below a root of raw files.

    Args:
        form: its form.
        root: the root of raw files.
        name: the name of the suite; empty: that of the published one.
        folder: the folder of its files; empty: its name.
        limit: the largest number of items of a sub-task, of forms in ``LIMITED``.
        adapters: the formats of the track, with those of plugins.

    Raises:
        DataError: there is no such form, or files are missing or of another form.
    """
    name = name or form
    folder = folder or name
    files = SuiteFiles(root, form, name, folder, layout_of(form, folder, adapters), limit)
    suite = format_of(form, adapters).read(files)
    return suite if form in FORMS else replace(suite, own_rules=adapters[form].rules)


def missing_subtasks(suite: Suite) -> list[str]:
    """Return the sub-tasks that a suite lacks here, such as data sets of ELEVATER that are not on disk; none if all its
    sub-tasks are its own.
    """
    names = [name for name, task in SUBTASKS.items() if task.suite == suite.name]
    missing = [name for name in names if name not in suite.tasks]
    return missing if len(missing) < len(names) else []
