"""What is asked of the harness: an evaluation of any model, the state of suites, and the suites of one's own."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError, create_model

from recompose.harness.evaluation import ALL, EvaluationRequest, EvaluationSummary, SuiteCondition
from recompose.harness.survey import suites_present, survey
from recompose.params import Section
from recompose.params.mistakes import params_error, problems_of
from recompose.tracks.plugins import Plugin
from recompose.tracks.vlc import FORMS as SUITE_FORMS
from recompose.tracks.vlc import VLC
from recompose.tracks.vlc.suites.catalogue import known_forms
from recompose.workspace import Workspace


def evaluate_model(request: EvaluationRequest) -> EvaluationSummary:
    """Evaluate any model on suites, and write its numbers into a folder; see ``harness.evaluate``.

    Raises:
        DataError: the model, its weights or the data are absent, unknown or broken.
    """
    suites_present(request.suites, request.data, request.declared)  # wrong names are told before torch is imported

    from recompose.harness.evaluate import evaluate

    return evaluate(request)


def examine_suites(data: Path) -> list[SuiteCondition]:
    """Return the state of all published suites in a folder of raw files."""
    return [survey(name, data).condition() for name in SUITE_FORMS]


def declared_suites(work: Workspace, names: Iterable[str]) -> Mapping[str, Section]:
    """Return the suites of images and captions that params.yaml declares; without such a file, those of installed
    plugins. Empty if all of these names are forms: then the parameters are not read.

    Raises:
        PluginError: a plugin is absent or wrong.
        ParamsError: the parameters, or a plugin's entries, have errors.
    """
    track = work.catalogue.tracks[VLC.name]
    forms = {ALL, *known_forms(track.adapters)}
    if all(":" in name or name in forms for name in names):
        return {}
    if not (work.root / "params.yaml").is_file():
        schema = work.catalogue.forms[VLC.name].section.model_fields["suites"].annotation
        return {name: entry for plugin in work.plugins for name, entry in _suites_of(plugin, schema).items()}
    return track.declared_suites(work.params)


def _suites_of(plugin: Plugin, kind: Any) -> Mapping[str, Section]:
    """Return the suites that an installed plugin declares, of this type.

    Raises:
        ParamsError: an entry has errors.
    """
    track = VLC.name
    schema = create_model("Suites", __base__=Section, suites=(kind, {}))
    document = {"suites": plugin.declaration.params.get(track, {}).get("suites", {})}
    try:
        suites: Mapping[str, Section] = dict(schema.model_validate(document))["suites"]
    except ValidationError as error:
        raise params_error(f"{plugin.file}: params.{track}:", problems_of(error, document)) from None
    return suites
