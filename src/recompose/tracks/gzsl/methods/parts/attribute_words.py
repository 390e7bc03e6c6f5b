"""The vectors of attributes' words, which are trained."""

from torch import Tensor, nn
from torch.nn.functional import normalize


class AttributeWords(nn.Module):
    """Vectors of unit length at first, and at each step if they are to be normalised.

    Args:
        words: [attributes, width].
        normalised: whether they keep unit length.
    """

    def __init__(self, words: Tensor, *, normalised: bool) -> None:
        super().__init__()
        self.vectors = nn.Parameter(normalize(words, dim=-1))
        self.normalised = normalised

    def forward(self) -> Tensor:
        """Return [attributes, width]; a zero vector stays zero."""
        return normalize(self.vectors, dim=-1) if self.normalised else self.vectors
