"""params.yaml: every knob, its meaning and what it may be.

``load_params`` gives the parameters of the chosen profile or one error that names file, key path, what is allowed
there and the nearest right name. What belongs to one track alone, its section and what a profile chooses of it, is
the track's: it comes in as a ``TrackForm``.
"""

from recompose.errors import ParamsError
from recompose.params.loading import load_params, parse_params
from recompose.params.merging import merged
from recompose.params.mistakes import Place, Problem, mistakes_in, unknown_name
from recompose.params.reference import json_schema, reference
from recompose.params.schema import Params, Profile, TrackForm
from recompose.params.sections import (
    Archive,
    Asset,
    Backbone,
    Bundled,
    Classifier,
    Clip,
    GivenGrids,
    Names,
    Pretrained,
    Released,
    Section,
    Trainer,
    Weights,
)

__all__ = [
    "Archive",
    "Asset",
    "Backbone",
    "Bundled",
    "Classifier",
    "Clip",
    "GivenGrids",
    "Names",
    "Params",
    "ParamsError",
    "Place",
    "Pretrained",
    "Problem",
    "Profile",
    "Released",
    "Section",
    "TrackForm",
    "Trainer",
    "Weights",
    "json_schema",
    "load_params",
    "merged",
    "mistakes_in",
    "parse_params",
    "reference",
    "unknown_name",
]
