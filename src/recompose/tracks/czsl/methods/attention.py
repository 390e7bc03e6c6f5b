"""Cross-modal interaction: texts cross-attend to the tokens of an image (Troika at 1f3c546, reused by MSCI)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention

from recompose.errors import ArgumentError

STEEPNESS = 1.702  # of the sigmoid in QuickGELU, CLIP's activation: x * sigmoid(1.702 x)


class FeedForward(nn.Sequential):
    """Layer normalisation, then two linear maps with QuickGELU between them and dropout after each; the hidden layer is
    four times as wide.
    """

    def __init__(self, width: int, inner_dropout: float, dropout: float = 0.0) -> None:
        super().__init__(
            nn.LayerNorm(width),
            nn.Linear(width, 4 * width),
            nn.SiLU(),
            nn.Dropout(inner_dropout),
            nn.Linear(4 * width, width),
            nn.Dropout(dropout),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the network's output for x [..., width]."""
        parts: Iterator[Any] = iter(self)
        norm, widen, activation, inner_dropout, narrow, dropout = parts
        # QuickGELU(x) is SiLU(1.702 x) / 1.702. The factors are applied to the weights, which are few, not to the
        # hidden layer of all texts of all images: this saves four passes over it
        x = activation(linear(norm(x), STEEPNESS * widen.weight, STEEPNESS * widen.bias))
        return dropout(linear(inner_dropout(x), narrow.weight / STEEPNESS, narrow.bias))


class Projected(NamedTuple):
    """Keys and values of tokens, each [images, heads, tokens, E / heads]."""

    keys: Tensor
    values: Tensor


class CrossAttention(nn.Module):
    """Multi-head attention of queries to keys and values of another modality, with a bias only in the output layer."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        if width % heads:
            raise ArgumentError("heads", f"is {heads}, which does not divide the width of {width}")
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def project(self, tokens: Tensor) -> Projected:
        """Return keys and values of tokens [images, tokens, E]."""
        return Projected(self._split(self.key(tokens)), self._split(self.value(tokens)))

    def forward(self, queries: Tensor, tokens: Tensor | Projected) -> Tensor:
        """Return attended values [images, queries, E] for tokens [images, tokens, E], projected or not, and queries
        [images, queries, E], or [queries, E] if all images share them.
        """
        k, v = self.project(tokens) if isinstance(tokens, Tensor) else tokens
        q = self._split(self.query(queries)).expand(len(k), -1, -1, -1)
        attended = scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return self.dropout(self.out(attended))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(-2, -3)


class Interaction(nn.Module):
    """Cross-attention and a feed-forward network, each with a residual connection (MSCI, Eqs. 5 and 6, 7 and 8)."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = CrossAttention(width, heads, dropout)
        self.feed_forward = FeedForward(width, dropout, dropout)

    def project(self, tokens: Tensor | Projected) -> Projected:
        """Return tokens projected for the texts, once for all blocks of texts."""
        return self.attention.project(tokens) if isinstance(tokens, Tensor) else tokens

    def forward(self, texts: Tensor, tokens: Tensor | Projected) -> Tensor:
        """Return texts [images, texts, E] after cross-attention to normalised tokens [images, tokens, E], projected or
        not; the input may be [texts, E] if all images share it.
        """
        texts = texts + self.attention(texts, tokens)
        return texts + self.feed_forward(texts)
