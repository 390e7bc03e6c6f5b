"""CE-CLIP (Zhang et al., 2024): negatives are contrasted with captions, and ranked below them by growing thresholds.

Checked against lezhang7/Enhance-FineGrained at ef87eb7. The thresholds grow with the margins that the model reaches.

The released code has four prepared negatives of a caption: nouns swapped, and an adjective, a noun and a verb replaced
by a language model. Here the settings name their kinds, and they are new in each step. For a missing negative, the
released code uses the text ``###``; here it is left out.
"""

from typing import ClassVar

import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.vlc.methods.ce_clip.settings import CeClipSettings
from recompose.tracks.vlc.methods.parts.caption_method import CaptionMethod, Representations
from recompose.tracks.vlc.methods.parts.gathering import gather_with_negatives
from recompose.tracks.vlc.methods.parts.ranking import ranked_loss


class CeClip(CaptionMethod):
    """CLIP with NegCLIP's loss, a contrast of captions with negatives, and a ranking loss."""

    settings_class: ClassVar = CeClipSettings
    thresholds: Tensor

    def __init__(self, backbone: Backbone, settings: CeClipSettings) -> None:
        super().__init__(backbone, settings, settings.negatives)
        self.settings = settings
        self.register_buffer("thresholds", torch.zeros(len(self.negatives)))

    def begin_epoch(self) -> None:
        """Reset the thresholds to 0, as released."""
        self.thresholds.zero_()

    def loss(self, batch: Representations, valid: Tensor) -> Tensor:
        """Return the sum of the three losses of all devices' images, captions and negatives.

        The thresholds are those of the preceding step; the next step's are stored.
        """
        whole, valid = gather_with_negatives(batch, valid)
        loss, self.thresholds = ranked_loss(whole, valid, self.logit_scale, self.thresholds, self.settings)
        return loss
