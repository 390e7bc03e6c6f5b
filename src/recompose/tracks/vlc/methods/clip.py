"""Pretrained CLIP (Radford et al., 2021), the baseline."""

from torch import nn

from recompose.backbones.clip import Backbone


class UntunedCLIP(nn.Module):
    """A CLIP without tuning."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone
