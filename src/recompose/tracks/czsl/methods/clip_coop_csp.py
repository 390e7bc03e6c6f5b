"""Methods that score a pair by its text alone: CLIP, CoOp and CSP (released as BatsResearch/csp at 660fcff)."""

from torch import Tensor, nn
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TextMethod
from recompose.tracks.czsl.methods.prompts import SlottedPrompt, mean_token_embeddings, prompt_words
from recompose.tracks.czsl.methods.settings import CoopSettings, CspSettings, ZeroShotSettings


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


class CoOp(TextMethod):
    """Learned vectors of the prompt's first words, shared by all pairs and initialised with their token embeddings."""

    settings_class = CoopSettings
    primitives: Tensor

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: CoopSettings) -> None:
        super().__init__(backbone)
        self.prompt = SlottedPrompt(backbone, settings.prompt)
        self.context = nn.Parameter(self.prompt.context.clone())
        self.register_buffer("primitives", mean_token_embeddings(backbone, [*states, *objects]), persistent=False)
        self._objects_from = len(states)

    def encode_pairs(self, pairs: Tensor) -> Tensor:
        states, objects = self.primitives[pairs[:, 0]], self.primitives[pairs[:, 1] + self._objects_from]
        return normalize(self.prompt.encode(self.backbone, self.context, states, objects), dim=-1)


class CSP(TextMethod):
    """One learned vector per state and per object, initialised with the mean of its name's token embeddings."""

    settings_class = CspSettings

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: CspSettings) -> None:
        super().__init__(backbone)
        self.prompt = SlottedPrompt(backbone, settings.prompt)
        self.primitives = nn.Parameter(mean_token_embeddings(backbone, [*states, *objects]))
        self.dropout = nn.Dropout(settings.dropout)
        self._objects_from = len(states)

    def encode_pairs(self, pairs: Tensor) -> Tensor:
        # one mask for all, as in the released code: pairs that share a state lose the same elements of it
        primitives = self.dropout(self.primitives)
        states, objects = primitives[pairs[:, 0]], primitives[pairs[:, 1] + self._objects_from]
        return normalize(self.prompt.encode(self.backbone, self.prompt.context, states, objects), dim=-1)
