"""The examples in docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import recompose.tracks.czsl.metrics as metrics

MODULES = [
    "recompose.metric_cache",
    "recompose.report.documents",
    "recompose.tracks.czsl.metric_values",
    "recompose.tracks.gzsl.building",
    "recompose.tracks.gzsl.evidential",
    "recompose.tracks.gzsl.figures.attributes",
    "recompose.tracks.gzsl.losses",
    "recompose.tracks.gzsl.metrics",
    "recompose.tracks.vlc.attribution.attribution_store",
    "recompose.tracks.vlc.suites.aggregation",
    "recompose.tracks.vlc.batches",
    "recompose.tracks.vlc.catalogue",
    "recompose.tracks.vlc.checkpoints",
    "recompose.tracks.vlc.figures.attribution_maps",
    "recompose.tracks.vlc.figures.page",
    "recompose.tracks.vlc.figures.retrieval",
    "recompose.tracks.vlc.data.suite",
    "recompose.tracks.vlc.losses",
    "recompose.tracks.vlc.suites.metric_values",
    "recompose.tracks.vlc.suites.metrics",
    "recompose.tracks.vlc.suites.scores",
    "recompose.tracks.vlc.text.aro_captions",
    "recompose.tracks.vlc.training",
    *(module.name for module in pkgutil.walk_packages(metrics.__path__, f"{metrics.__name__}.")),
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_metrics_have_examples() -> None:
    finder = doctest.DocTestFinder()
    assert any(test.examples for name in MODULES for test in finder.find(importlib.import_module(name)))
