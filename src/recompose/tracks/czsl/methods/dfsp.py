"""DFSP: texts, decomposed into states and objects, are fused with the image (Lu et al., 2023; Forest-art/DFSP at
39517ca).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.attention import FeedForward
from recompose.tracks.czsl.methods.base import TEXT_IMAGE_PAIRS, TEXTS, PairMethod, apply_blockwise, cosine_logits
from recompose.tracks.czsl.methods.prompts import SlottedPrompt, mean_token_embeddings
from recompose.tracks.czsl.methods.settings import DfspSettings

HEAD = 64  # width of an attention head
CLASS, END = 0, -1  # the tokens whose vectors represent an image and a text


class AttentionBlock(nn.Module):
    """A pre-norm block: self-attention, or cross-attention to other tokens, and a feed-forward network."""

    def __init__(self, width: int, *, cross: bool, dropout: float) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, max(1, width // HEAD), batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.norm_other = nn.LayerNorm(width) if cross else None
        self.feed_forward = FeedForward(width, dropout)

    def forward(self, x: Tensor, other: Tensor | None = None) -> Tensor:
        """Return tokens [n, tokens, width] after attention to themselves, or to the other tokens [n, tokens, width]."""
        query = self.norm(x)
        seen = query if other is None or self.norm_other is None else self.norm_other(other)
        x = x + self.attention(query, seen, seen, need_weights=False)[0]
        return x + self.feed_forward(x)

    def attend_single(self, x: Tensor, place: int) -> Tensor:
        """Return a single token [n, width] of [n, tokens, width] after attention to all tokens; the other tokens need
        not be computed.
        """
        seen = self.norm(x)
        query, token = seen[:, place, None], x[:, place, None]
        token = token + self.attention(query, seen, seen, need_weights=False)[0]
        return (token + self.feed_forward(token)).squeeze(1)


def _full_precision(like: Tensor) -> torch.autocast:
    """Return a context without mixed precision, for sums over many texts and for logits that differ little."""
    return torch.autocast(like.device.type, enabled=False)


@dataclass(frozen=True)
class DfspBlock:
    """A block of a world: its pairs [P, 2], their texts [P, E] before fusion, and after it if all images share them.

    ``decomposed`` [S + O, length, D] is the whole world's: the tokens of its texts, averaged over the pairs of each
    state and of each object.
    """

    index: Tensor
    plain: Tensor
    fused: Tensor | None
    decomposed: Tensor


@dataclass(frozen=True)
class DfspImages:
    """Embeddings [images, E] before fusion, and tokens [images, 1 + patches, W]."""

    plain: Tensor
    tokens: Tensor


@dataclass(frozen=True)
class FusedImages:
    """Embeddings [images, E] after fusion with a world's texts, and, if texts are fused with images, the fused states
    and objects [images, S + O, D].
    """

    embeddings: Tensor
    primitives: Tensor | None


class DFSP(PairMethod):
    """A soft prompt and a fusion of both modalities; a share of the fused vectors is added to those of the prompt.

    An image's vectors depend on all pairs of a world, through the decomposed texts. In i2t and BiF the released code
    folds images of a batch into each other; here each image is fused with its own tokens. The context begins at the
    words of the prompt. Logits of states and objects are means over their pairs.
    """

    settings_class = DfspSettings
    sees = "pixels"

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: DfspSettings) -> None:
        super().__init__(backbone)
        if not backbone.depth:
            raise ArgumentError(
                "backbone", "has an image tower without transformer blocks, which DFSP needs", code="no-blocks"
            )
        self._states, self._names = len(states), len(states) + len(objects)
        self.prompt = SlottedPrompt(backbone, settings.prompt)
        self.context = nn.Parameter(self.prompt.context.clone())
        self.words = nn.Parameter(mean_token_embeddings(backbone, [*states, *objects]))
        self.dropout, self.fusion_dropout = nn.Dropout(settings.dropout), nn.Dropout(settings.fusion_dropout)
        self.fusion, self.share = settings.fusion, settings.share
        self.primitive_weight, self.prompt_weight = settings.primitive_weight, settings.prompt_weight
        self.length = self.prompt.length
        folded = self.length * self._names
        image, text = backbone.image_width, backbone.text_width
        self.image_attention = AttentionBlock(image, cross=False, dropout=settings.fusion_dropout)
        self.text_attention = AttentionBlock(text, cross=False, dropout=settings.fusion_dropout)
        if self.fusion != "i2t":
            self.text_to_image = nn.ModuleList([nn.Linear(text, image), nn.Linear(folded, backbone.image_length)])
            self.image_looks = AttentionBlock(image, cross=True, dropout=0.0)
        if self.fusion != "t2i":
            self.image_to_text = nn.ModuleList([nn.Linear(image, text), nn.Linear(backbone.image_length, folded)])
            self.text_looks = AttentionBlock(text, cross=True, dropout=0.0)
            self.composed = nn.Linear(text, text)

    def encode_images(self, inputs: Tensor) -> DfspImages:
        """Return embeddings and tokens of images as bytes [images, 3, height, width], of the frozen tower."""
        with torch.no_grad():
            (tokens,) = self.backbone.image_tokens(self.backbone.from_bytes(inputs), [self.backbone.depth - 1])
            return DfspImages(self.backbone.project_image(tokens[:, 0]), tokens)

    def encode_texts(self, blocks: Sequence[Tensor]) -> list[DfspBlock]:
        """Return the texts of each block of pairs [pairs, 2], decomposed over all of them."""
        words = self.dropout(self.words)
        encoded = []
        sums, counts = torch.zeros((), device=self.words.device), torch.zeros((), device=self.words.device)
        for index in blocks:
            tokens = apply_blockwise(
                lambda *block: self._tokens(*block), words[index[:, 0]], words[index[:, 1] + self._states], size=TEXTS
            )
            belongs = self._belongs(index)
            with _full_precision(tokens):
                sums = sums + torch.einsum("pn,pld->nld", belongs, tokens.float())
            counts = counts + belongs.sum(dim=0)
            plain, fused = self.backbone.project_text(tokens[:, END]), None
            if self.fusion == "t2i":
                fused = self.backbone.project_text(self.text_attention.attend_single(tokens, END))
            encoded.append((index, plain, fused))
        decomposed = sums / counts.clamp(min=1)[:, None, None]  # a name without pairs stays zero
        return [DfspBlock(index, plain, fused, decomposed) for index, plain, fused in encoded]

    def _tokens(self, states: Tensor, objects: Tensor) -> Tensor:
        return self.backbone.prompt_tokens(self.prompt(self.context, states, objects))

    def _belongs(self, index: Tensor) -> Tensor:
        """Return the states and objects [pairs, S + O] of each pair as ones among zeros."""
        names = torch.arange(self._names, device=index.device)
        return ((names == index[:, :1]) | (names == index[:, 1:] + self._states)).float()

    def compare(self, images: DfspImages, texts: list[DfspBlock]) -> Iterator[Tensor]:
        """Yield the logits [images, P] of each block."""
        fused = self.fuse(images, texts[0].decomposed)
        return (self.logits(fused, block) for block in texts)

    def fuse(self, images: DfspImages, decomposed: Tensor) -> FusedImages:
        """Return images fused with the decomposed texts [S + O, length, D] of a world, and its states and objects fused
        with the images.
        """
        tokens = images.tokens
        primitives = None
        if self.fusion != "t2i":
            size = max(1, TEXT_IMAGE_PAIRS // self._names)
            primitives = apply_blockwise(lambda block: self._cross_attend(block, decomposed), tokens, size=size)
        if self.fusion != "i2t":
            tokens = self.image_looks(tokens, self._summary(decomposed).expand(len(tokens), -1, -1))
        fused = self.backbone.project_image(self.image_attention.attend_single(tokens, CLASS))
        return FusedImages(self._mix(images.plain, fused), primitives)

    def _summary(self, decomposed: Tensor) -> Tensor:
        """Return the decomposed texts in the shape of an image's tokens [1 + patches, W]."""
        widen, fold = self.text_to_image
        rows = widen(decomposed).transpose(0, 1).flatten(0, 1)
        return self.fusion_dropout(fold(rows.T).T)

    def _cross_attend(self, tokens: Tensor, decomposed: Tensor) -> Tensor:
        """Return states and objects [images, S + O, D], at the end of text, after cross-attention of their texts to
        each image.
        """
        narrow, unfold = self.image_to_text
        context = self.fusion_dropout(unfold(narrow(tokens).transpose(1, 2)).transpose(1, 2))
        context = context.unflatten(1, (self.length, self._names)).transpose(1, 2).flatten(0, 1)
        texts = decomposed.expand(len(tokens), *decomposed.shape).flatten(0, 1)
        texts = self.text_attention.attend_single(self.text_looks(texts, context), END)
        return texts.unflatten(0, (len(tokens), self._names))

    def logits(self, images: FusedImages, block: DfspBlock) -> Tensor:
        """Return logits [images, P] of fused images: cosines after fusion, times CLIP's factor."""
        if block.fused is not None:
            return self._cosines(images.embeddings, self._mix(block.plain, block.fused))
        return apply_blockwise(
            lambda index, plain: self._cosines(images.embeddings, self._compose_texts(images, index, plain)),
            block.index,
            block.plain,
            size=max(1, TEXT_IMAGE_PAIRS // len(images.embeddings)),
            dim=1,
        )

    def _compose_texts(self, images: FusedImages, index: Tensor, plain: Tensor) -> Tensor:
        """Return texts [images, P, E] of pairs, from products of the states and objects fused with each image."""
        assert images.primitives is not None
        products = images.primitives[:, index[:, 0]] * images.primitives[:, index[:, 1] + self._states]
        return self._mix(plain, self.backbone.project_text(self.composed(products)))

    def _mix(self, plain: Tensor, fused: Tensor) -> Tensor:
        return (1 - self.share) * plain + self.share * fused

    def _cosines(self, images: Tensor, texts: Tensor) -> Tensor:
        return cosine_logits(self.backbone.logit_scale, images, texts)

    def loss(self, inputs: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """Return the cross-entropy over pairs after fusion, and, weighted, over states, objects and pairs before it."""
        (block,) = self.encode_texts([pairs])
        images = self.encode_images(inputs)
        fused = self.fuse(images, block.decomposed)
        plain = self._cosines(images.plain, block.plain)
        belongs = self._belongs(pairs)
        counts = belongs.sum(dim=0)
        with _full_precision(plain):
            means = plain @ belongs / counts.clamp(min=1)
        means = means.masked_fill(counts == 0, -torch.inf)  # names without training pairs
        states, objects = means.split([self._states, self._names - self._states], dim=1)
        by_name = cross_entropy(states, pairs[targets, 0]) + cross_entropy(objects, pairs[targets, 1])
        return (
            cross_entropy(self.logits(fused, block), targets)
            + self.primitive_weight * by_name
            + self.prompt_weight * cross_entropy(plain, targets)
        )
