"""CLIP-CAE (Li et al., 2024): attribution to a caption's relations and attributes is raised to that of its objects.

No code was released. A step encodes images once and captions twice: as all methods do, and for attribution in 32 bits,
with the attention returned. For perturbation, captions are encoded once, in 32 bits.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from recompose.backbones.clip import Backbone
from recompose.nn.gathering import gather_batch
from recompose.tracks.vlc.attribution.by_attention import attention
from recompose.tracks.vlc.attribution.by_gradcam import gradcam
from recompose.tracks.vlc.attribution.by_gradient import gradient
from recompose.tracks.vlc.attribution.by_perturbation import mean_drops
from recompose.tracks.vlc.attribution.label_batches import LabelRequest
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
    LabelledRepresentations,
    Representations,
    Tuning,
)
from recompose.tracks.vlc.methods.parts.gathering import gather_with_negatives

Attribution = Literal["none", "attention", "gradcam", "gradient", "perturbation"]
NegativeLoss = Literal["negclip", "ce-clip"]


class ClipCae(CaptionMethod):
    """CLIP with the loss L_ITC + lambda L_Attr (Eq. 6).

    With hard negatives (Section 4.2, Appendix F), the loss of NegCLIP or CE-CLIP takes the place of L_ITC.

    Args:
        backbone: the CLIP to tune.
        tuning: ``full`` or ``lora``.
        attribution: the method of attribution (Sections 3.1 to 3.4); ``none`` for L_ITC alone, at no extra cost.
        attribution_weights: lambda of each method; 0 is the same as ``none``.
        margin: epsilon.
        itc_weight: of L_ITC; 0 for L_Attr alone (Table 5).
        determiners: True: determiners and numerals are attributes.
        negatives: the kinds of negatives of a caption; empty for no hard negatives.
        negative_loss: the method whose losses take the negatives: ``negclip``, or ``ce-clip``.
        lora: ``rank`` and ``alpha`` of ``lora``.
        attention: keyword arguments of ``by_attention.attention``, choices that the paper leaves open.
        gradcam: the same of ``by_gradcam.gradcam``.
        gradient: the same of ``by_gradient.gradient``.
        perturbation: for perturbation, ``count``, the replacements of each concept of a caption in a step, and
            ``objects``, ``attributes`` and ``relations``, the numbers of candidates.
        ce_clip: for CE-CLIP's losses, their ``rank_weight``, ``contrast_weight``, ``threshold`` and
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
            self.label_request = LabelRequest(determiners, perturbation["count"], candidates)
        elif self.attribution_weight:
            self.label_request = LabelRequest(determiners)
        self.register_buffer("thresholds", torch.zeros(len(self.negatives)))

    def begin_epoch(self) -> None:
        """Reset CE-CLIP's thresholds to 0."""
        self.thresholds.zero_()

    def represent(self, pixels: Tensor, ids: Tensor) -> AnyRepresentations:
        """Return embeddings and the scores of captions' tokens; see ``CaptionMethod.represent``.

        Scores are computed in 32 bits whatever the towers' precision. For perturbation there are none: they follow from
        the embeddings.
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

    def loss(self, batch: Representations | LabelledRepresentations, valid: Tensor) -> Tensor:
        """Return the sum of the two losses of all devices' images, captions and negatives.

        A caption without objects, or without relations and attributes, is only in the first loss.

        Args:
            batch: representations of images, captions, negatives and perturbed captions, with the captions' labels
                where lambda is not 0.
            valid: [n, K + P] bool, the negatives of each kind and the perturbed captions that exist.
        """
        if isinstance(batch, Representations):
            return self.itc_weight * self._itc(batch, valid)
        kinds = len(self.negatives)
        is_negative = valid.nonzero()[:, 1] < kinds
        images, texts, derived = batch.representations[:3]
        if isinstance(batch.representations, AttributedRepresentations):
            scores = batch.representations.scores
        else:
            replaced = derived[~is_negative]
            scores = mean_drops(self.backbone, images.detach(), texts, replaced, batch.changed)  # see Eq. 9
        itc = self._itc(Representations(images, texts, derived[is_negative]), valid[:, :kinds])
        missing = len(self.backbone.model.positional_embedding) - scores.shape[1]
        scores, objects, composition = (gather_batch(pad(part, (0, missing))) for part in (scores, *batch.labels))
        attributed = attribution_loss(scores, objects, composition, self.margin)
        return self.itc_weight * itc + self.attribution_weight * attributed

    def _scores(self, images: Tensor, ids: Tensor) -> Tensor:
        """Return the scores of tokens [n, T], given image embeddings [n, E] and captions [n, T]."""
        if self.attribution == "attention":
            return attention(self.backbone, images, ids, **self.attention)
        create_graph = torch.is_grad_enabled()
        if self.attribution == "gradcam":
            return gradcam(self.backbone, images, ids, create_graph=create_graph, **self.gradcam)
        return gradient(self.backbone, images, ids, create_graph=create_graph, **self.gradient)

    def _itc(self, mine: Representations, valid: Tensor) -> Tensor:
        """Return L_ITC, NegCLIP's loss, or CE-CLIP's three, of all devices' images, captions and negatives."""
        scale = self.logit_scale
        if not self.negatives:
            return contrastive_loss(gather_batch(mine.images), gather_batch(mine.texts), scale)
        whole, valid = gather_with_negatives(mine, valid)
        if self.negative_loss == "negclip":
            return contrastive_loss_with_negatives(*whole, valid, scale)
        settings, before = self.ce_clip, self.thresholds
        rank = cross_modal_rank_loss(*whole, valid, scale, before)
        self.thresholds = rank_thresholds(*whole, valid, scale, before, settings["threshold"])
        contrast = intra_modal_loss(*whole, valid, scale, settings["intra_modal_target"])
        loss = contrastive_loss_with_negatives(*whole, valid, scale, missing="excluded")
        return loss + settings["rank_weight"] * rank + settings["contrast_weight"] * contrast
