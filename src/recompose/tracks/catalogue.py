"""The entries of all catalogues: methods with their settings, and adapters of data sets. No class is imported."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pydantic import Field, create_model

from recompose.params.method import MethodSettings
from recompose.params.sections import Section
from recompose.tables.metric import Metric


@dataclass(frozen=True)
class Method:
    """A method's class, its settings, and what its numbers depend on."""

    class_path: str  # module:class
    settings_class: type[MethodSettings]  # declared beside the class
    needs_backbone: bool = True
    needs_seed: bool = True  # false: on the same data all seeds give the same numbers, so it runs once

    @property
    def module(self) -> str:
        """The name of the module of its class."""
        return self.class_path.partition(":")[0]

    @property
    def parts(self) -> dict[str, str]:
        """What makes its runs and evaluations beside the track's steps, by role."""
        settings = self.settings_class
        return {"class": self.class_path, "settings": f"{settings.__module__}:{settings.__qualname__}"}


@dataclass(frozen=True)
class DataAdapter:
    """The module that reads data sets of one form, and the section of params.yaml for such a data set."""

    module: str
    settings: type[Section]
    synthetic: bool = False  # generated from a seed: each seed of a profile has a replicate of its own
    companions: tuple[str, ...] = ()  # modules beside it that decide what it reads
    kind: str = "datasets"  # the part of the track's section with its entries: these, or suites
    rules: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # sub-task of a plugin's suites -> query, ties


def named_section(base: type[Section], adapter: str) -> type[Section]:
    """Return the section of data sets in a plugin's format, derived from another one."""
    named: Any = (Literal[adapter], Field(description="The reader: the form of its files."))
    return create_model(f"{base.__name__}_{adapter}", __base__=base, __doc__=base.__doc__, adapter=named)


@dataclass(frozen=True)
class PluginMetric:
    """A metric of a plugin: its function, and how it is shown.

    The function takes the metrics of the track by name, the folder of the evaluation, and the folders of its needs by
    role. It returns the value, or None where the evaluation has none.
    """

    path: str  # module:function
    about: Metric


Adapters: TypeAlias = Mapping[str, DataAdapter]
