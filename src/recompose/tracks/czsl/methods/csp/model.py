"""CSP: learned token embeddings of states and objects in a fixed prompt (Nayak et al., 2022)."""

from torch import Tensor, nn
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.csp.settings import CspSettings
from recompose.tracks.czsl.methods.parts.pair_method import TextMethod, mean_token_embeddings
from recompose.tracks.czsl.methods.parts.slots import SlottedPrompt


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
