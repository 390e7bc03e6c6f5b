"""The settings of FSC-CLIP."""

from typing import Literal

from pydantic import Field

from recompose.params.sections import Share, Weight
from recompose.tracks.vlc.methods.parts.settings import Negatives, TunedSettings

OUTSIDE_FINGERPRINTS = True  # documents hold the values


class FscClipSettings(TunedSettings):
    """FSC-CLIP: global and local losses of hard negatives, with focus and smoothing."""

    negatives: Negatives
    global_weight: Weight = Field(description="lambda_g, of the loss of hard negatives between embeddings.")
    local_weight: Weight = Field(description="lambda_l, of the loss of hard negatives between patches and words.")
    gamma: Weight = Field(description="Exponent of the focal weight (Eq. 9); 0: all weigh 1.")
    beta: Share = Field(description="Share of the label that is spread over all captions (Eq. 10).")
    missing: Literal["zero", "excluded"] = Field(
        description="A negative that could not be made: `zero` gives it a logit of 0, as released; `excluded`, none."
    )
    weights: Literal["minmax", "sparse", "softmax"] = Field(
        description="Weights of patches for a word: `minmax` scales them from 0 to 1 (Eq. 6), `sparse` also drops "
        "those below 1 / patches, `softmax` takes a softmax."
    )
