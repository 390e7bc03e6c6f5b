"""DAZLE: dense attention of attributes to regions (Huynh and Elhamifar, 2020; hbdat/cvpr20_DAZLE at e5a0460)."""

import torch
from torch import Tensor, nn

from recompose.tracks.gzsl.methods.base import ClassSpace
from recompose.tracks.gzsl.methods.calibrated import CalibratedMethod, unit_regions
from recompose.tracks.gzsl.methods.settings import DazleSettings


class DAZLE(CalibratedMethod):
    """A score of each attribute in each region, an attention to regions, and a weight in the image."""

    settings_class = DazleSettings

    def __init__(self, space: ClassSpace, channels: int, settings: DazleSettings) -> None:
        super().__init__(space, settings.normalise_words, settings)
        shape = space.words.shape[1], channels
        self.W1 = nn.Parameter(torch.randn(shape))
        self.W2 = nn.Parameter(torch.zeros(shape))
        self.W3 = nn.Parameter(torch.zeros(shape)) if settings.attribute_attention else None

    def attributes(self, grids: Tensor) -> Tensor:
        """Return images' attribute scores [B, A]."""
        # the weight of an attribute is linear in the attended regions, so it is computed in each region like a score
        maps = (self.W1, self.W2) if self.W3 is None else (self.W1, self.W2, self.W3)
        scores, logits, *weights = self._map_regions(grids, *maps)
        attention = logits.softmax(dim=1)
        attributes = (attention * scores).sum(dim=1)
        for weight in weights:
            attributes = attributes * (attention * weight).sum(dim=1).sigmoid()
        return attributes

    def _map_regions(self, grids: Tensor, *maps: Tensor) -> tuple[Tensor, ...]:
        """Return the products of each map [width, channels] for attributes in regions [B, R, A]."""
        joint = torch.cat([self.words() @ matrix for matrix in maps])
        return (unit_regions(grids) @ joint.T).chunk(len(maps), dim=-1)

    def loss(self, grids: Tensor, targets: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return ``loss``, and its parts ``cross_entropy`` and ``calibration``."""
        return self.add_total(self.classification(self.class_scores(self.attributes(grids)), targets))

    def attention(self, grids: Tensor) -> Tensor:
        """Return the attention of attributes to regions [images, attributes, regions]; each row sums to 1."""
        return self._map_regions(grids, self.W2)[0].softmax(dim=1).transpose(1, 2)
