"""What the catalogues of all tracks are made of: methods with their settings, and adapters of data sets; no class is
imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from recompose.params.sections import Section


@dataclass(frozen=True)
class Method:
    """A method's class, its settings, and what its numbers depend on."""

    class_path: str  # module:class
    settings: type[Section]
    needs_backbone: bool = True  # no: it needs no torch either
    needs_seed: bool = True  # no: on the same data another seed gives the same numbers, so it is run once

    @property
    def module(self) -> str:
        """The module that its class stands in."""
        return self.class_path.partition(":")[0]


@dataclass(frozen=True)
class DataAdapter:
    """The module that reads data sets of a form, and what params.yaml says of such a data set."""

    module: str
    settings: type[Section]
    synthetic: bool = False  # from a seed: each seed of a profile draws a world of its own
    companions: tuple[str, ...] = ()  # modules beside it that decide what is read
    sizes: Mapping[str, int] = field(default_factory=dict)  # images of each part, as published


def published_sizes(adapters: Mapping[str, DataAdapter], document: Mapping[str, Any]) -> dict[str, int]:
    """How many images each part of a data set has as published, by its recipe's document; empty where nobody counted
    them, or the adapter is none of these.
    """
    adapter = adapters.get(str(document.get("adapter")))
    return dict(adapter.sizes) if adapter else {}


def load_adapter(adapters: Mapping[str, DataAdapter], document: Mapping[str, Any]) -> ModuleType:
    """Return the module that reads a data set, by its recipe's document."""
    return import_module(adapters[document["adapter"]].module)
