"""The parameters of params.yaml, their meaning and their allowed values.

``load_params`` returns the parameters of the chosen profile, or raises one error that names the file, the line, the key
path, the allowed values and the nearest right name. Each track adds its own section, and a profile's choices from it,
as a ``TrackForm``.
"""

from recompose.params.loading import load_params
from recompose.params.reference import json_schema, reference
from recompose.params.schema import Params, TrackForm
from recompose.params.sections import (
    Archive,
    Backbone,
    Bundled,
    Classifier,
    GivenGrids,
    Pretrained,
    Released,
    Section,
    Trainer,
)

__all__ = [
    "Archive",
    "Backbone",
    "Bundled",
    "Classifier",
    "GivenGrids",
    "Params",
    "Pretrained",
    "Released",
    "Section",
    "TrackForm",
    "Trainer",
    "json_schema",
    "load_params",
    "reference",
]
