"""The settings of the papers' data sets, on CLIP ViT-L/14 as it is built for counting: every one makes a model, with
the parameters that its parts have.
"""

from typing import Any

import pytest

from recompose.backbones.clip import Backbone, outline
from recompose.tracks.building import TypedSettings, method_class
from recompose.tracks.czsl.catalogue import METHODS
from recompose.tracks.czsl.params import Czsl
from recompose.training.cost import count_at_paper_scale
from recompose.training.resources import trainable
from tests.configuration import params_text, parse_params

pytestmark = pytest.mark.slow

SECTION = parse_params(params_text("paper")).tracks["czsl"]
assert isinstance(SECTION, Czsl)
SIZES = {"mit-states": (115, 245), "ut-zappos": (16, 12), "cgqa": (413, 674)}
TRAINED = [name for name, entry in METHODS.items() if entry.needs_backbone and entry.needs_seed]
WIDTH, IMAGE, TOKENS = 768, 1024, 257
LINEAR = WIDTH * WIDTH + WIDTH
NORM = 2 * WIDTH
ADAPTERS = 2 * 24 * (IMAGE * 64 + 64 + 64 * IMAGE + IMAGE)
INTERACTION = 3 * WIDTH * WIDTH + LINEAR + NORM + WIDTH * 4 * WIDTH + 4 * WIDTH + 4 * WIDTH * WIDTH + WIDTH


def attention(width: int, *, cross: bool) -> int:
    """A pre-norm block of DFSP: queries, keys, values and output with biases, norms, feed-forward network of four
    widths.
    """
    return 4 * (width * width + width) + (2 + cross) * 2 * width + 8 * width * width + 5 * width


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return outline("ViT-L-14", "quick_gelu")


def names(count: int, what: str) -> list[str]:
    return [f"{what} {index}" for index in range(count)]


def new_model(backbone: Backbone, method: str, dataset: str) -> Any:
    states, objects = SIZES[dataset]
    document = {"class": METHODS[method].class_path, "settings": SECTION.settings(method, dataset).document()}
    return method_class(document)(
        backbone, names(states, "state"), names(objects, "object"), TypedSettings(document).own
    )


def expected(method: str, states: int, objects: int) -> int:
    """The parameters of a method's parts, counted by hand."""
    context, words = 3 * WIDTH, (states + objects) * WIDTH
    disentangler = LINEAR + NORM
    two_layers = 2 * LINEAR + NORM  # the last one ends without a norm
    prompts = 3 * context + words
    folded = 7 * (states + objects)
    to_image = WIDTH * IMAGE + IMAGE + folded * TOKENS + TOKENS
    return {
        "coop": context,
        "csp": words,
        "gipcol": context + WIDTH * 4096 + 4096 + 4096 * WIDTH + WIDTH,
        "dfsp": context
        + words
        + to_image
        + attention(IMAGE, cross=True)
        + attention(IMAGE, cross=False)
        + attention(WIDTH, cross=False),
        "c-s-o": ADAPTERS + prompts + 2 * two_layers,
        "troika": ADAPTERS + prompts + 2 * disentangler + NORM + 2 * INTERACTION + WIDTH,
        "msci": ADAPTERS
        + prompts
        + 2 * disentangler  # of states and of objects; as released pairs have none
        + 2 * (3 * WIDTH * WIDTH + WIDTH + NORM)
        + 2 * NORM
        + 2 * INTERACTION
        + 2 * WIDTH,
        "duplex": ADAPTERS + prompts + 2 * two_layers + 2 * WIDTH * WIDTH,
    }[method]


@pytest.mark.parametrize("method", TRAINED)
def test_parameters_are_those_of_the_parts(method: str) -> None:
    states, objects = SIZES["ut-zappos"]
    counted = count_at_paper_scale(lambda backbone: new_model(backbone, method, "ut-zappos"))
    assert counted == expected(method, states, objects)


@pytest.mark.parametrize("dataset", SIZES)
@pytest.mark.parametrize("method", TRAINED)
def test_every_setting_of_every_data_set_makes_a_model(backbone: Backbone, method: str, dataset: str) -> None:
    model = new_model(backbone, method, dataset)
    assert trainable(model) > 0
    assert model.training
