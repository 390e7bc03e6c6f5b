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
STATES, OBJECTS = 16, 12
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {  # methods, and settings that change their parameters
    **{name: (name, {}) for name, entry in METHODS.items() if entry.needs_backbone and entry.needs_seed},
    "dfsp-BiF": ("dfsp", {"fusion": "BiF"}),
    "c-s-o-lora": ("c-s-o", {"image_tower": "lora"}),
    "c-s-o-frozen": ("c-s-o", {"image_tower": "frozen", "prompts": "fixed"}),
}
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


def new_model(backbone: Backbone, variant: str, dataset: str) -> Any:
    method, changes = VARIANTS[variant]
    document = {"class": METHODS[method].class_path, "settings": SECTION.settings(method, dataset, changes).document()}
    own = TypedSettings(document).own
    return method_class(document)(backbone, names(STATES, "state"), names(OBJECTS, "object"), own)


def expected(variant: str) -> int:
    """The parameters of a variant's parts, counted by hand."""
    context, words = 3 * WIDTH, (STATES + OBJECTS) * WIDTH
    disentangler = LINEAR + NORM
    two_layers = 2 * LINEAR + NORM  # the last one ends without a norm
    prompts = 3 * context + words
    folded = 7 * (STATES + OBJECTS)
    to_image = WIDTH * IMAGE + IMAGE + folded * TOKENS + TOKENS
    to_text = IMAGE * WIDTH + WIDTH + TOKENS * folded + folded
    dfsp = context + words + attention(IMAGE, cross=False) + attention(WIDTH, cross=False)
    dfsp_image = to_image + attention(IMAGE, cross=True)
    return {
        "coop": context,
        "csp": words,
        "gipcol": context + WIDTH * 4096 + 4096 + 4096 * WIDTH + WIDTH,
        "dfsp": dfsp + dfsp_image,
        "dfsp-BiF": dfsp + dfsp_image + to_text + attention(WIDTH, cross=True) + LINEAR,
        "c-s-o-lora": 24 * 2 * 2 * 64 * IMAGE + prompts + 2 * two_layers,
        "c-s-o-frozen": 2 * two_layers,
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
    }[variant]


@pytest.mark.parametrize("variant", VARIANTS)
def test_parameters_are_those_of_the_parts_and_settings_of_every_data_set_make_a_model(
    backbone: Backbone, variant: str
) -> None:
    assert count_at_paper_scale(lambda clip: new_model(clip, variant, "ut-zappos")) == expected(variant)
    for dataset in ("mit-states", "cgqa"):
        assert trainable(new_model(backbone, variant, dataset)) > 0
