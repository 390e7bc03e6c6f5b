"""CoOp on pairs: a learned context before fixed names of states and objects (Zhou et al., 2022; as in Nayak et al.,
2022).
"""

from torch import Tensor, nn
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.coop.settings import CoopSettings
from recompose.tracks.czsl.methods.parts.pair_method import TextMethod, mean_token_embeddings
from recompose.tracks.czsl.methods.parts.slots import SlottedPrompt


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
