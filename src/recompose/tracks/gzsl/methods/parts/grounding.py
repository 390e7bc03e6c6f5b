"""Transformers between regions and attributes: an encoder of regions, and a decoder in which one modality attends to
the other (TransZero at 7c10cdb, TransZero++ at c045f73; CREST, Eqs. 1 and 2).

All attention has one head. A modality that all images share has no dimension of images, so that it is computed once.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from recompose.tracks.gzsl.methods.parts.geometry import WIDTH, relations, side_of
from recompose.tracks.gzsl.methods.parts.settings import Grounding

GEOMETRY_DROPOUT = 0.1  # of the encoder's attention weights, independent of the other rates, as released


class Attention(nn.Module):
    """Attention of queries to tokens with one head; weights and biases are initialised as in PyTorch's attention."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        joint = torch.empty(3 * width, width)
        nn.init.xavier_uniform_(joint)  # the range of the three maps is that of their joint matrix
        with torch.no_grad():
            for layer, weight in zip((self.query, self.key, self.value), joint.chunk(3), strict=True):
                layer.weight.copy_(weight)
        for layer in (self.query, self.key, self.value, self.out):
            nn.init.zeros_(layer.bias)
        self.dropout = nn.Dropout(dropout)

    def weights(self, queries: Tensor, tokens: Tensor) -> Tensor:
        """Return the attention weights of each query [..., Q, h] for each token [..., T, h]: [..., Q, T]."""
        query = self.query(queries) * queries.shape[-1] ** -0.5
        return (query @ self.key(tokens).transpose(-1, -2)).softmax(dim=-1)

    def forward(self, queries: Tensor, tokens: Tensor, images: int | None = None) -> Tensor:
        """Return attended values [..., Q, h]; for queries and tokens that ``images`` images share, whose dropout
        differs, [images, Q, h].
        """
        weights = self.weights(queries, tokens)
        if images is not None and self.training and self.dropout.p:
            weights = weights.expand(images, *weights.shape)
        return self.out(self.dropout(weights) @ self.value(tokens))


class GeometryAttention(nn.Module):
    """Self-attention of regions whose logits depend on the regions' relative positions."""

    relations: Tensor  # [R, R, 64]

    def __init__(self, width: int, *, geometry: bool) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        for layer in (self.query, self.key, self.value, self.out):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.dropout = nn.Dropout(GEOMETRY_DROPOUT)
        self.lowered = nn.Linear(WIDTH, 1) if geometry else None
        self.register_buffer("relations", torch.zeros(0, 0, WIDTH), persistent=False)

    def forward(self, regions: Tensor) -> Tensor:
        """Return attended values [B, R, h] of regions [B, R, h]."""
        query = self.query(regions) * regions.shape[-1] ** -0.5
        logits = query @ self.key(regions).transpose(1, 2)
        if self.lowered is not None:
            logits = logits - self.lowered(self._relations(regions)).squeeze(-1).relu()
        return self.out(self.dropout(logits.softmax(dim=-1)) @ self.value(regions))

    def _relations(self, regions: Tensor) -> Tensor:
        """Return the relations [R, R, 64], computed again for a grid of another size."""
        if len(self.relations) != regions.shape[1]:
            self.relations = relations(side_of(regions.shape[1])).to(self.relations)
        return self.relations


class Encoder(nn.Module):
    """One layer of self-attention of regions and a feed-forward network.

    The queries are added twice, and normalised twice, before the feed-forward network, as released.
    """

    def __init__(self, width: int, feed_forward: int, dropout: float, *, geometry: bool) -> None:
        super().__init__()
        self.attention = GeometryAttention(width, geometry=geometry)
        self.within, self.wide, self.narrow = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.first, self.second = nn.Linear(width, feed_forward), nn.Linear(feed_forward, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, regions: Tensor) -> Tensor:
        """Return regions [B, R, h] after the layer."""
        attended = self.within(regions + self.dropout(self.attention(regions)))
        attended = self.wide(regions + self.dropout(attended))
        change = self.second(self.dropout(self.first(attended).relu()))
        return self.narrow(attended + self.dropout(change))


class Decoder(nn.Module):
    """One layer: queries attend to themselves, if so configured, and to tokens (Eq. 1); a feed-forward network (Eq. 2).

    As in TransZero++: residual connections and layer norms, and a ReLU between the two maps of Eq. 2.
    """

    def __init__(self, width: int, feed_forward: int, dropout: float, *, self_attention: bool) -> None:
        super().__init__()
        self.own = Attention(width, dropout) if self_attention else None
        self.own_norm = nn.LayerNorm(width) if self_attention else None
        self.cross = Attention(width, dropout)
        self.cross_norm, self.norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.first, self.second = nn.Linear(width, feed_forward), nn.Linear(feed_forward, width)
        self.dropout = nn.Dropout(dropout)

    def attend_to_self(self, queries: Tensor, images: int) -> Tensor:
        """Return queries [Q, h] or [B, Q, h] after attention to themselves."""
        if self.own is None or self.own_norm is None:
            return queries
        return self.own_norm(queries + self.dropout(self.own(queries, queries, images if queries.dim() == 2 else None)))

    def attention(self, queries: Tensor, tokens: Tensor) -> Tensor:
        """Return the attention weights of queries [Q, h] or [B, Q, h] for tokens [B, T, h]: [B, Q, T]."""
        return self.cross.weights(self.attend_to_self(queries, len(tokens)), tokens)

    def forward(self, queries: Tensor, tokens: Tensor) -> Tensor:
        """Return queries [B, Q, h] after the layer; all images may share either [Q, h] or [T, h]."""
        images = max(len(tensor) for tensor in (queries, tokens) if tensor.dim() == 3)
        queries = self.attend_to_self(queries, images)
        queries = self.cross_norm(queries + self.dropout(self.cross(queries, tokens)))
        change = self.second(self.dropout(self.first(queries).relu()))
        return self.norm(queries + self.dropout(change))


class Embedded(NamedTuple):
    """Both modalities at the transformers' width."""

    regions: Tensor  # [B, R, h], mapped alone
    encoded: Tensor  # [B, R, h], after the encoder
    attributes: Tensor  # [A, h]


class GroundingTransformer(nn.Module):
    """The maps of both modalities to one width, an encoder layer and a decoder layer.

    Args:
        channels: of regions.
        words: width of the vectors of attributes.
        settings: widths and dropout, of each step's output and of the decoder's attention weights; the attention of
            the encoder to relative positions, and of the decoder's queries to themselves.
    """

    def __init__(self, channels: int, words: int, settings: Grounding) -> None:
        super().__init__()
        sizes = settings.hidden, settings.feed_forward, settings.dropout
        self.regions, self.attributes = nn.Linear(channels, settings.hidden), nn.Linear(words, settings.hidden)
        self.encoder = Encoder(*sizes, geometry=settings.geometry)
        self.decoder = Decoder(*sizes, self_attention=settings.self_attention)

    def embed(self, grids: Tensor, words: Tensor) -> Embedded:
        """Return regions [B, R, channels] and attributes [A, width] at the transformers' width."""
        regions = self.regions(grids)
        return Embedded(regions, self.encoder(regions), self.attributes(words))
