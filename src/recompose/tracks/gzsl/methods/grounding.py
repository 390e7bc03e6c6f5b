"""Transformers between regions and attributes: an encoder of regions, and a decoder in which one modality attends to
the other (TransZero at 7c10cdb, TransZero++ at c045f73; CREST, Eqs. 1 and 2).

All attention has one head. A modality that all images share has no dimension of images, so that it is computed once.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.methods.calibrated import CalibratedMethod, unit_regions
from recompose.tracks.gzsl.methods.settings import Grounding, PairedGrounding

GEOMETRY_WIDTH = 64  # of the vector of two regions' relative position
WAVE_LENGTH = 1000
NEAREST = 1e-3  # minimal distance, whose logarithm is taken


def side_of(regions: int) -> int:
    """Return the number of regions along a side of a square grid.

    Raises:
        ArgumentError: the number of regions is not a square.
    """
    side = math.isqrt(regions)
    if side * side != regions:
        raise ArgumentError("regions", f"are {regions}, not a square grid; geometry needs one, or set geometry: false")
    return side


def relations(side: int) -> Tensor:
    """Return sines, then cosines, of the relative positions of all regions [regions, regions, 64], in 64 bits.

    They are of four quantities at eight frequencies each: the logarithms of the distances along rows and along columns,
    in units of the grid and divided by a region's size plus one, as released; and of the ratios of heights and of
    widths, which are zero, as all regions have one size.
    """
    centres = (torch.arange(side, dtype=torch.float64) + 0.5) / side
    row, column = centres.repeat_interleave(side), centres.repeat(side)
    size = 1 / side + 1
    logs = [((at[:, None] - at).abs() / size).clamp(min=NEAREST).log() for at in (row, column)]
    frequencies = WAVE_LENGTH ** -(torch.arange(GEOMETRY_WIDTH // 8, dtype=torch.float64) / (GEOMETRY_WIDTH // 8))
    zero = torch.zeros_like(logs[0])
    angles = (100 * torch.stack([*logs, zero, zero], dim=-1)[..., None] * frequencies).flatten(2)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


GEOMETRY_DROPOUT = 0.1  # of the encoder's attention weights, independent of the other rates, as released


class Attention(nn.Module):
    """Attention of queries to tokens with one head; weights and biases are initialised as in PyTorch's attention."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.initialise(width)
        for layer in (self.query, self.key, self.value, self.out):
            nn.init.zeros_(layer.bias)
        self.dropout = nn.Dropout(dropout)

    def initialise(self, width: int) -> None:
        """Draw weights: the range of three maps is that of their joint matrix."""
        joint = nn.init.xavier_uniform_(torch.empty(3 * width, width))
        with torch.no_grad():
            for layer, weight in zip((self.query, self.key, self.value), joint.chunk(3), strict=True):
                layer.weight.copy_(weight)

    def logits(self, queries: Tensor, tokens: Tensor) -> Tensor:
        """Return the logits of attention of each query [..., Q, h] to each token [..., T, h]: [..., Q, T]."""
        query = self.query(queries) * queries.shape[-1] ** -0.5
        return query @ self.key(tokens).transpose(-1, -2)

    def weights(self, queries: Tensor, tokens: Tensor) -> Tensor:
        """Return the attention weights of each query [..., Q, h] for each token [..., T, h]: [..., Q, T]."""
        return self.logits(queries, tokens).softmax(dim=-1)

    def forward(self, queries: Tensor, tokens: Tensor, images: int | None = None) -> Tensor:
        """Return attended values [..., Q, h]; for queries and tokens that ``images`` images share, whose dropout
        differs, [images, Q, h].
        """
        weights = self.weights(queries, tokens)
        if images is not None and self.training and self.dropout.p:
            weights = weights.expand(images, *weights.shape)
        return self.out(self.dropout(weights) @ self.value(tokens))


class GeometryAttention(Attention):
    """Self-attention of regions whose logits depend on the regions' relative positions."""

    relations: Tensor  # [R, R, 64]

    def __init__(self, width: int, *, geometry: bool) -> None:
        super().__init__(width, GEOMETRY_DROPOUT)
        self.lowered = nn.Linear(GEOMETRY_WIDTH, 1) if geometry else None
        self.register_buffer("relations", torch.zeros(0, 0, GEOMETRY_WIDTH), persistent=False)

    def initialise(self, width: int) -> None:
        """Draw the weights of each map."""
        for layer in (self.query, self.key, self.value, self.out):
            nn.init.xavier_uniform_(layer.weight)

    def logits(self, queries: Tensor, tokens: Tensor) -> Tensor:
        """Return the logits of attention [B, R, R] of regions [B, R, h] to each other."""
        logits = super().logits(queries, tokens)
        return logits if self.lowered is None else logits - self.lowered(self._relations(tokens)).squeeze(-1).relu()

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
        attended = self.within(regions + self.dropout(self.attention(regions, regions)))
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


class VisualGrounding(GroundingTransformer):
    """The visual grounding transformer (VGT): its queries are attributes, and its map W1 scores them in an image.

    It is all of TransZero, and one half of TransZero++ and CREST.
    """

    def __init__(self, channels: int, words: int, settings: Grounding) -> None:
        super().__init__(channels, words, settings)
        self.W1 = nn.Parameter(torch.randn(words, settings.hidden))

    def forward(self, grids: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return images' attribute scores a_i = v_i^T W1 F_i [B, A], and the features F [B, A, h].

        Args:
            grids: [B, R, channels].
            words: [A, width], the vectors v.
        """
        _, encoded, attributes = self.embed(grids, words)
        features = self.decoder(attributes, encoded)
        return (features * (words @ self.W1)).sum(dim=-1), features

    def attention(self, grids: Tensor, words: Tensor) -> Tensor:
        """Return the attention of attributes to regions [B, A, R]; each row sums to 1."""
        _, encoded, attributes = self.embed(grids, words)
        return self.decoder.attention(attributes, encoded)


class GroundedMethod(CalibratedMethod):
    """A method with a visual grounding transformer, unless its settings leave that out."""

    vgt: Any  # VisualGrounding, or None

    def attention(self, grids: Tensor) -> Tensor:
        """Return the attention of VGT's attributes to regions [images, attributes, regions]; each row sums to 1."""
        if self.vgt is None:
            return super().attention(grids)
        return self.vgt.attention(unit_regions(grids), self.words())


class AttributeGrounding(GroundingTransformer):
    """The attribute grounding transformer (AGT): its queries are regions, and each gets a score.

    It is the second half of TransZero++ and of CREST. With encoded regions U, the decoder's features F, and regions and
    attributes G, T at the transformers' width: a region's score is r = U W F, and an image's attribute scores are
    a = E r, where E = T W4 G^T.

    Args:
        channels: of regions.
        words: width of the vectors of attributes.
        settings: those of the transformer, and of its maps: only W4's diagonal, as in the released code, whose sum
            repeats an index (TransZero++ at c045f73), or all of it, as in its paper.
    """

    def __init__(self, channels: int, words: int, settings: PairedGrounding) -> None:
        super().__init__(channels, words, settings)
        square = settings.hidden, settings.hidden
        self.W = nn.Parameter(torch.zeros(square) if settings.region_scores == "zeros" else torch.randn(square))
        self.W4 = nn.Parameter(torch.randn(square[:1] if settings.region_attributes == "diagonal" else square))

    def forward(self, grids: Tensor, words: Tensor) -> Tensor:
        """Return images' attribute scores [B, A].

        Args:
            grids: [B, R, channels].
            words: [A, width].
        """
        embedded = self.embed(grids, words)
        return self.attribute_scores(embedded, self.features(embedded))

    def features(self, embedded: Embedded) -> Tensor:
        """Return the features F [B, R, h] of regions that attended to attributes."""
        return self.decoder(embedded.encoded, embedded.attributes)

    def attribute_scores(self, embedded: Embedded, features: Tensor) -> Tensor:
        """Return images' attribute scores a [B, A] by features [B, R, h]."""
        scores = (embedded.encoded @ self.W * features).sum(dim=-1)  # r [B, R]
        weighted = (scores[:, None] @ embedded.regions).squeeze(1)  # r^T G [B, h], in place of E, which is [B, A, R]
        return (weighted * self.W4 if self.W4.dim() == 1 else weighted @ self.W4) @ embedded.attributes.T
