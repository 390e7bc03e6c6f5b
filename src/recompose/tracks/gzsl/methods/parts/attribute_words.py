"""The vectors of attributes' words, which training moves."""

from torch import Tensor, nn
from torch.nn.functional import normalize


class AttributeWords(nn.Module):
    """Vectors that begin with unit length, and keep it where they are to be normalised at each step.

    Args:
        words: [attributes, width].
        normalised: they keep unit length.
    """

    def __init__(self, words: Tensor, *, normalised: bool) -> None:
        super().__init__()
        self.vectors = nn.Parameter(normalize(words, dim=-1))
        self.normalised = normalised

    def forward(self) -> Tensor:
        """Return [attributes, width]; a vector of zeros stays one."""
        return normalize(self.vectors, dim=-1) if self.normalised else self.vectors
