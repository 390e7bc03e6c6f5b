"""A prompt with two slots at its end, one for the state's and one for the object's token embedding."""

import torch
from torch import Tensor, nn

from recompose.backbones.clip import Backbone, end_of_text


class SlottedPrompt(nn.Module):
    """The token embeddings of a template such as "a photo of {state} {object}".

    The slots stand right before the end of text, as in CSP at 660fcff. D is the width of the text tower.
    """

    start: Tensor
    end: Tensor
    context: Tensor

    def __init__(self, backbone: Backbone, template: str) -> None:
        super().__init__()
        ids = backbone.tokens([template.format(state="X", object="X")])[0]
        self.end_position = int(end_of_text(ids))
        with torch.no_grad():
            embeddings = backbone.embed_tokens(ids[: self.end_position + 1])
        self.register_buffer("start", embeddings[:1].clone(), persistent=False)
        self.register_buffer("end", embeddings[-1:].clone(), persistent=False)
        self.register_buffer("context", embeddings[1:-3].clone(), persistent=False)

    def forward(self, context: Tensor, states: Tensor, objects: Tensor) -> Tensor:
        """Prompts [pairs, length, D] from a context [words, D] and the slots' contents [pairs, D]."""
        count = len(states)
        around = [part.expand(count, *part.shape) for part in (self.start, context, self.end)]
        return torch.cat([*around[:2], states.unsqueeze(1), objects.unsqueeze(1), around[2]], dim=1)

    def ends(self, count: int) -> Tensor:
        """The position of the end of text [count] in each prompt."""
        return torch.full((count,), self.end_position, device=self.start.device)
