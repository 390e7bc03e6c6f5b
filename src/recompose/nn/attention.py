"""Cross-modal interaction: texts cross-attend to the tokens of an image (Troika at 1f3c546, taken over by MSCI)."""

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention, silu


class QuickGELU(nn.Module):
    """CLIP's activation."""

    def forward(self, x: Tensor) -> Tensor:
        """The activation of each element."""
        return silu(1.702 * x) / 1.702  # x times a sigmoid, in fewer steps


class CrossAttention(nn.Module):
    """Multi-head attention of queries to keys and values of another modality; no biases before it, one after it."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"{heads} heads cannot share a width of {width}")
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries: Tensor, tokens: Tensor) -> Tensor:
        """Attended values [images, queries, E] for queries [images, queries, E] and tokens [images, tokens, E]."""
        q, k, v = self._split(self.query(queries)), self._split(self.key(tokens)), self._split(self.value(tokens))
        attended = scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return self.dropout(self.out(attended))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Interaction(nn.Module):
    """Cross-attention and a feed-forward network, each with a residual connection (MSCI, Eqs. 5 and 6, 7 and 8)."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = CrossAttention(width, heads, dropout)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 4 * width),
            QuickGELU(),
            nn.Dropout(dropout),
            nn.Linear(4 * width, width),
            nn.Dropout(dropout),
        )

    def forward(self, texts: Tensor, tokens: Tensor) -> Tensor:
        """Texts [images, texts, E] after cross-attention to normed tokens [images, tokens, E]."""
        texts = texts + self.attention(texts, tokens)
        return texts + self.feed_forward(texts)
