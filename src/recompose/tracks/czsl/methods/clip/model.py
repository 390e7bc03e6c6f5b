"""CLIP, zero-shot: every pair in a written prompt (Radford et al., 2021)."""

from torch import Tensor
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.clip.settings import ZeroShotSettings
from recompose.tracks.czsl.methods.parts.pair_method import TextMethod
from recompose.tracks.czsl.methods.parts.words import prompt_words


class CLIP(TextMethod):
    """CLIP without training: the text of a pair is "a photo of {state} {object}"."""

    settings_class = ZeroShotSettings

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: ZeroShotSettings) -> None:
        super().__init__(backbone)
        self._states = [prompt_words(name) for name in states]
        self._objects = [prompt_words(name) for name in objects]
        self._prompt = settings.prompt

    def encode_pairs(self, pairs: Tensor) -> Tensor:
        texts = [self._prompt.format(state=self._states[s], object=self._objects[o]) for s, o in pairs.tolist()]
        return normalize(self.backbone.encode_text(self.backbone.tokens(texts).to(pairs.device)), dim=-1)
