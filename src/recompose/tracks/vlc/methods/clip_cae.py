"""CLIP-CAE (Li et al., 2024): attribution to a caption's relations and attributes is raised to that of its objects.

The paper's equations in their order. No code was released; papers/clip-cae/notes.md and ``attribution.methods`` say how
what the paper leaves open is read.

| equation | here | released code |
|---|---|---|
| 1 | ``attribution.methods.similarity`` | none |
| 2 to 4 | ``losses.contrastive_loss`` | |
| 5 | ``attribution_loss`` | |
| 6 | ``ClipCae.loss`` | |
| Section 3.1 | ``attribution.methods.attention`` | |
| 7, 8 | ``attribution.methods.gradcam`` | Chefer et al., hila-chefer/Transformer-MM-Explainability at 58eaea8 |
| 9 | ``attribution.methods.perturbation`` | |
| 10 | ``attribution.methods.gradient`` | |

A step encodes images once and captions twice: as all methods do, and for attribution in 32 bits, with the attention
returned. For perturbation, captions are encoded once, in 32 bits.
"""

from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from recompose.backbones.clip import Backbone
from recompose.tracks.arrays import check_shape
from recompose.tracks.vlc.attribution.labels import LabelRequest
from recompose.tracks.vlc.attribution.methods import attention, gradcam, gradient, mean_drops
from recompose.tracks.vlc.data.captions import LISTED
from recompose.tracks.vlc.losses import contrastive_loss, contrastive_loss_with_negatives
from recompose.tracks.vlc.methods.base import Representations, gather_embeddings
from recompose.tracks.vlc.methods.negclip import RankingMethod
from recompose.tracks.vlc.methods.settings import ClipCaeSettings
from recompose.tracks.vlc.text.concepts import KINDS
from recompose.training.gathering import gather_batch


def attribution_loss(scores: Tensor, objects: Tensor, composition: Tensor, margin: float = 0.0) -> Tensor:
    """Return CLIP-CAE's loss of attribution, L_Attr (Li et al., 2024, Eq. 5).

    With a_obj the mean of a caption's scores over the tokens of its objects, and a_comp that over the tokens of its
    relations and attributes, the loss is the mean of max(a_obj - a_comp + epsilon, 0) over captions. The paper does not
    specify the case of a caption without either kind of tokens: here it is left out. If no caption has both, the loss
    is 0, with gradients of 0.

    Args:
        scores: [texts, tokens], the attribution to each token; scores outside the masks are ignored and take no
            gradients.
        objects: [texts, tokens] bool.
        composition: [texts, tokens] bool.
        margin: epsilon, 0 in the paper.

    Example:
        >>> scores = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.9, 0.1, 0.0]])
        >>> objects = torch.tensor([[True, False, False], [True, True, False], [True, False, False]])
        >>> composition = torch.tensor([[False, True, True], [False, False, True], [False, False, False]])
        >>> attribution_loss(scores, objects, composition)
        tensor(0.1250)
    """
    object_means, composition_means = mean_attributions(scores, objects), mean_attributions(scores, composition)
    complete = objects.any(dim=1) & composition.any(dim=1)
    excess = (object_means - composition_means + margin).clamp_min(0)
    return excess.masked_fill(~complete, 0).sum() / complete.sum().clamp_min(1)


def mean_attributions(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of each text's scores [texts, tokens] over a mask [texts, tokens] bool; 0 where it is empty."""
    fits = mask.dtype == torch.bool and scores.ndim == 2 and mask.shape == scores.shape
    check_shape("mask", mask, fits, f"bool [texts, tokens] as scores, which are {tuple(scores.shape)}")
    return scores.masked_fill(~mask, 0).sum(dim=1) / mask.sum(dim=1).clamp_min(1)


class ClipCae(RankingMethod):
    """CLIP with the loss L_ITC + lambda L_Attr (Eq. 6).

    With hard negatives (Section 4.2, Appendix F), the loss of NegCLIP or CE-CLIP takes the place of L_ITC. They are
    those that the corpus lists, or made by NegCLIP's rules. Without attribution, or with a lambda of 0, L_Attr is not
    computed.
    """

    settings_class: ClassVar = ClipCaeSettings

    def __init__(self, backbone: Backbone, settings: ClipCaeSettings) -> None:
        kinds = [LISTED] if settings.negatives and settings.negative_source == "corpus" else settings.negatives
        super().__init__(backbone, settings, kinds)
        self.settings = settings
        weights, replaced = settings.attribution_weights, settings.perturbation
        self.attribution_weight: float = getattr(weights, settings.attribution, None) or 0.0  # lambda; 0 for "none"
        if self.attribution_weight:
            self.label_request = LabelRequest(settings.determiners)
            if settings.attribution == "perturbation" and replaced:
                candidates = {kind: getattr(replaced, f"{kind}s") for kind in KINDS}
                self.label_request = LabelRequest(settings.determiners, replaced.count, candidates)

    def represent(self, pixels: Tensor, ids: Tensor) -> Representations:
        """Return embeddings and the scores of captions' tokens; see ``CaptionMethod.represent``.

        Scores are computed in 32 bits whatever the towers' precision. For perturbation there are none: they follow from
        the embeddings.
        """
        if not self.attribution_weight:
            return super().represent(pixels, ids)
        device, count = pixels.device.type, len(pixels)
        if self.settings.attribution == "perturbation":
            images = self.backbone.encode_image(pixels)
            with torch.autocast(device, enabled=False):
                texts = self.backbone.encode_text(ids)
            return Representations(images, texts[:count], texts[count:])
        whole = super().represent(pixels, ids)
        with torch.autocast(device, enabled=False):
            scores = self._scores(whole.images.to(self.logit_scale), ids[:count])
        return replace(whole, scores=scores)

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the sum of the two losses of all devices' images, captions and negatives.

        A caption without objects, or without relations and attributes, is only in the first loss.

        Args:
            batch: representations of images, captions, negatives and perturbed captions, with the captions' labels
                where lambda is not 0.
            valid: [n, K + P] bool, the negatives of each kind and the perturbed captions that exist.
        """
        if batch.labels is None:
            return self.settings.itc_weight * self._itc(batch, valid)
        kinds = len(self.negatives)
        is_negative = valid.nonzero()[:, 1] < kinds
        images, texts, derived = batch.embeddings
        scores = batch.scores
        if scores is None:
            assert batch.changed is not None
            replaced = derived[~is_negative]
            scores = mean_drops(self.backbone, images.detach(), texts, replaced, batch.changed)  # see Eq. 9
        itc = self._itc(Representations(images, texts, derived[is_negative]), valid[:, :kinds])
        missing = len(self.backbone.model.positional_embedding) - scores.shape[1]
        scores, objects, composition = (gather_batch(pad(part, (0, missing))) for part in (scores, *batch.labels))
        attributed = attribution_loss(scores, objects, composition, self.settings.margin)
        return self.settings.itc_weight * itc + self.attribution_weight * attributed

    def _scores(self, images: Tensor, ids: Tensor) -> Tensor:
        """Return the scores of tokens [n, T], given image embeddings [n, E] and captions [n, T]."""
        settings, create_graph = self.settings, torch.is_grad_enabled()
        inputs = self.backbone, images, ids
        if settings.attribution == "attention" and settings.attention:
            return attention(*inputs, **settings.attention.model_dump())
        if settings.attribution == "gradcam" and settings.gradcam:
            return gradcam(*inputs, **settings.gradcam.model_dump(), create_graph=create_graph)
        assert settings.gradient
        return gradient(*inputs, **settings.gradient.model_dump(), create_graph=create_graph)

    def _itc(self, mine: Representations, valid: Tensor) -> Tensor:
        """Return L_ITC, NegCLIP's loss, or CE-CLIP's three, of all devices' images, captions and negatives."""
        scale = self.logit_scale
        if not self.negatives:
            return contrastive_loss(gather_batch(mine.images), gather_batch(mine.texts), scale)
        embeddings, valid = gather_embeddings(mine, valid)
        if self.settings.negative_loss == "ce-clip" and self.settings.ce_clip:
            return self.ranked_loss(embeddings, valid, self.settings.ce_clip)
        return contrastive_loss_with_negatives(*embeddings, valid, scale)
