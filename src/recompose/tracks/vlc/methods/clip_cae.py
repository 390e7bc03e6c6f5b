"""CLIP-CAE (Li et al., 2024): what the relations and attributes of a caption count for is brought up to what its
objects do. No code was released.

A step encodes images once, captions twice: as all methods do, and with attention at hand, in 32 bits, for what tokens
count for. By perturbation they are encoded once, in 32 bits.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from recompose.backbones.clip import Backbone
from recompose.nn.gathering import gathered
from recompose.tracks.vlc.attribution.by_attention import attention
from recompose.tracks.vlc.attribution.by_gradcam import gradcam
from recompose.tracks.vlc.attribution.by_gradient import gradient
from recompose.tracks.vlc.attribution.by_perturbation import mean_drops
from recompose.tracks.vlc.attribution.label_batches import Marking
from recompose.tracks.vlc.attribution.token_labels import KINDS
from recompose.tracks.vlc.losses import (
    attribution_loss,
    contrastive_loss,
    contrastive_loss_with_negatives,
    cross_modal_rank_loss,
    intra_modal_loss,
    rank_thresholds,
)
from recompose.tracks.vlc.methods.parts.caption_method import (
    NOTHING,
    AnyRepresentations,
    AttributedRepresentations,
    CaptionMethod,
    MarkedRepresentations,
    Representations,
    Tuning,
)
from recompose.tracks.vlc.methods.parts.gathering import gathered_with_negatives

Attribution = Literal["none", "attention", "gradcam", "gradient", "perturbation"]
NegativeLoss = Literal["negclip", "ce-clip"]


class ClipCae(CaptionMethod):
    """CLIP under L_ITC + lambda L_Attr (Eq. 6); where there are hard negatives (Section 4.2, Appendix F) under what
    NegCLIP or CE-CLIP has in place of L_ITC.

    Args:
        backbone: that is tuned.
        tuning: ``full`` or ``lora``.
        attribution: how what tokens count for is told (Sections 3.1 to 3.4); ``none`` for L_ITC alone, which costs
            nothing more.
        attribution_weights: lambda of that way; 0 is as ``none``.
        margin: epsilon.
        itc_weight: of L_ITC; 0 for L_Attr alone (Table 5).
        determiners: whether determiners and numerals are attributes.
        negatives: the kinds that are made of a caption; none for the method without hard negatives.
        negative_loss: whose losses negatives are in: ``negclip``, or ``ce-clip``.
        lora: where it is what is tuned, ``rank`` and ``alpha``.
        attention: where it is the way, what the paper leaves open of it: keyword arguments of
            ``attribution.attention``.
        gradcam: the same of ``attribution.gradcam``.
        gradient: the same of ``attribution.gradient``.
        perturbation: where it is the way, ``count``, how often each concept of a caption is replaced in a step, and
            ``objects``, ``attributes`` and ``relations``, of how many candidates each.
        ce_clip: where losses are CE-CLIP's, their ``rank_weight``, ``contrast_weight``, ``threshold`` and
            ``intra_modal_target``.
    """

    thresholds: Tensor

    def __init__(
        self,
        backbone: Backbone,
        *,
        tuning: Tuning,
        attribution: Attribution,
        attribution_weights: Mapping[str, float],
        margin: float,
        itc_weight: float,
        determiners: bool,
        negatives: Sequence[str],
        negative_loss: NegativeLoss,
        lora: Mapping[str, Any] = NOTHING,
        attention: Mapping[str, Any] = NOTHING,
        gradcam: Mapping[str, Any] = NOTHING,
        gradient: Mapping[str, Any] = NOTHING,
        perturbation: Mapping[str, int] = NOTHING,
        ce_clip: Mapping[str, Any] = NOTHING,
    ) -> None:
        super().__init__(backbone, tuning=tuning, lora=lora, negatives=negatives)
        self.attribution, self.negative_loss, self.ce_clip = attribution, negative_loss, ce_clip
        self.attention, self.gradcam, self.gradient = attention, gradcam, gradient
        self.attribution_weight = 0.0 if attribution == "none" else attribution_weights[attribution]
        self.margin, self.itc_weight = margin, itc_weight
        if self.attribution_weight and attribution == "perturbation":
            candidates = {kind: perturbation[f"{kind}s"] for kind in KINDS}
            self.marking = Marking(determiners, perturbation["count"], candidates)
        elif self.attribution_weight:
            self.marking = Marking(determiners)
        self.register_buffer("thresholds", torch.zeros(len(self.negatives)))

    def begin_epoch(self) -> None:
        """CE-CLIP's thresholds begin at 0 in each epoch."""
        self.thresholds.zero_()

    def represent(self, pixels: Tensor, ids: Tensor) -> AnyRepresentations:
        """Embeddings, and what the tokens of captions count for, but by perturbation: embeddings tell that. It is
        computed in 32 bits whatever towers compute in; see ``CaptionMethod.represent``.
        """
        if not self.attribution_weight:
            return super().represent(pixels, ids)
        device, count = pixels.device.type, len(pixels)
        if self.attribution == "perturbation":
            images = self.backbone.encode_image(pixels)
            with torch.autocast(device, enabled=False):
                texts = self.backbone.encode_text(ids)
            return Representations(images, texts[:count], texts[count:])
        whole = super().represent(pixels, ids)
        with torch.autocast(device, enabled=False):
            scores = self._scores(whole.images.to(self.logit_scale), ids[:count])
        return AttributedRepresentations(whole.images, whole.texts, whole.negatives, scores)

    def loss(self, batch: Representations | MarkedRepresentations, valid: Tensor) -> Tensor:
        """The two losses of all devices' images, captions and negatives. A caption without objects, or without
        relations and attributes, is in the first alone.

        Args:
            batch: of images, captions, and what was made of these, with the captions' marks where lambda is not 0.
            valid: [n, K + P] bool, which negatives of each kind there are, and which captions with a concept replaced.
        """
        if isinstance(batch, Representations):
            return self.itc_weight * self._itc(batch, valid)
        kinds = len(self.negatives)
        is_negative = valid.nonzero()[:, 1] < kinds
        images, texts, made = batch.of[:3]
        if isinstance(batch.of, AttributedRepresentations):
            scores = batch.of.scores
        else:
            replaced = made[~is_negative]
            scores = mean_drops(self.backbone, images.detach(), texts, replaced, batch.changed)  # see Eq. 9
        itc = self._itc(Representations(images, texts, made[is_negative]), valid[:, :kinds])
        missing = len(self.backbone.model.positional_embedding) - scores.shape[1]
        scores, objects, composition = (gathered(pad(each, (0, missing))) for each in (scores, *batch.marks))
        attributed = attribution_loss(scores, objects, composition, self.margin)
        return self.itc_weight * itc + self.attribution_weight * attributed

    def _scores(self, images: Tensor, ids: Tensor) -> Tensor:
        """What tokens count for [n, T], of image embeddings [n, E] and captions [n, T]."""
        if self.attribution == "attention":
            return attention(self.backbone, images, ids, **self.attention)
        derived = torch.is_grad_enabled()
        if self.attribution == "gradcam":
            return gradcam(self.backbone, images, ids, create_graph=derived, **self.gradcam)
        return gradient(self.backbone, images, ids, create_graph=derived, **self.gradient)

    def _itc(self, mine: Representations, valid: Tensor) -> Tensor:
        """L_ITC, NegCLIP's loss, or the three of CE-CLIP, of all devices' images, captions and negatives."""
        scale = self.logit_scale
        if not self.negatives:
            return contrastive_loss(gathered(mine.images), gathered(mine.texts), scale)
        whole, valid = gathered_with_negatives(mine, valid)
        if self.negative_loss == "negclip":
            return contrastive_loss_with_negatives(*whole, valid, scale)
        settings, before = self.ce_clip, self.thresholds
        rank = cross_modal_rank_loss(*whole, valid, scale, before)
        self.thresholds = rank_thresholds(*whole, valid, scale, before, settings["threshold"])
        contrast = intra_modal_loss(*whole, valid, scale, settings["intra_modal_target"])
        loss = contrastive_loss_with_negatives(*whole, valid, scale, missing="excluded")
        return loss + settings["rank_weight"] * rank + settings["contrast_weight"] * contrast
