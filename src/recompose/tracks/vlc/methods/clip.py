"""CLIP as it was pretrained (Radford et al., 2021), which is what others are compared with."""

from torch import nn

from recompose.backbones.clip import Backbone


class CLIP(nn.Module):
    """A CLIP that is not tuned."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone
