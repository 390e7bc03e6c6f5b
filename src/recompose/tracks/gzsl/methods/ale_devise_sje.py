"""A bilinear map between features and attributes with three ranking losses: ALE (Akata et al., 2016), DeViSE (Frome et
al., 2013), SJE (Akata et al., 2015), compared as in Xian et al. (2019).

With one violation of each image, training is that of mvp18/Popular-ZSL-Algorithms at 2377647 (``*/*_gzsl.py``,
``update_W``): steps of plain gradient descent on single images, from uniform weights with columns of unit length.
"""

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, one_hot

from recompose.tracks.gzsl.methods.base import ClassSpace, PooledMethod
from recompose.tracks.gzsl.methods.settings import AleSettings, BilinearSettings, DeviseSettings, SjeSettings


class Bilinear(PooledMethod):
    """A bilinear map by which the score of an image's class should exceed those of other seen classes by a margin."""

    def __init__(self, space: ClassSpace, channels: int, settings: BilinearSettings) -> None:
        super().__init__(space, channels, settings)
        self.margin, self.violations = settings.margin, settings.violations
        weights = torch.empty(channels, space.signatures.shape[1])
        if self.violations == "one":
            self.W = nn.Parameter(normalize(nn.init.uniform_(weights), dim=0))
        else:
            self.W = nn.Parameter(nn.init.xavier_normal_(weights))

    def loss(self, grids: Tensor, targets: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return the mean over images of the cost of their violations."""
        embedded = self.pool(grids) @ self.W
        violations = self._violations(embedded, targets)
        rivals = self.seen & ~one_hot(targets, len(self.seen)).bool()
        if self.violations == "all":
            return {"loss": self.cost(violations.clamp(min=0) * rivals).mean()}
        with torch.no_grad():
            compared = self._violations(self.compared(embedded), targets)
            weights = self.weights(compared.masked_fill(~rivals, -torch.inf), targets)
        return {"loss": (weights * violations).sum(dim=1).mean()}

    def _violations(self, embedded: Tensor, targets: Tensor) -> Tensor:
        """Return by how much the lead over each class lacks the margin [images, classes]; below 0 it does not."""
        scores = embedded @ self.signatures.T
        return self.margin - (scores.gather(1, targets[:, None]) - scores)

    @abstractmethod
    def cost(self, violations: Tensor) -> Tensor:
        """Return the cost [images] of violations of the margin [images, classes], which are 0 if the margin is kept."""

    def compared(self, embedded: Tensor) -> Tensor:
        """Return the embeddings [images, attributes] by which the one violation is chosen."""
        return embedded

    @abstractmethod
    def weights(self, violations: Tensor, targets: Tensor) -> Tensor:
        """Return the weights [images, classes] of violations, all but one 0 for each image, or all if none is positive.

        Args:
            violations: [images, classes], minus infinity for classes that do not compete.
            targets: [images].
        """


def weight_of_class(violations: Tensor, classes: Tensor, weights: Tensor | float = 1.0) -> Tensor:
    """Return weights [images, classes]: one class's of each image where its violation is positive, and 0 elsewhere.

    Args:
        violations: [images, classes].
        classes: [images].
        weights: [images], or a number.
    """
    chosen = one_hot(classes, violations.shape[1]) * (violations > 0)
    return chosen * torch.as_tensor(weights, dtype=violations.dtype, device=violations.device).reshape(-1, 1)


class ALE(Bilinear):
    """ALE: the cost of violations, weighted by the rank r that they give the image's class: 1 + 1/2 + ... + 1/r for
    their mean.
    """

    settings_class = AleSettings

    def cost(self, violations: Tensor) -> Tensor:
        rank = (violations > 0).sum(dim=1)
        steps = 1 / torch.arange(1, violations.shape[1] + 1, device=violations.device)
        weights = torch.cat([steps.new_zeros(1), steps.cumsum(0)])[rank] / rank.clamp(min=1)
        return weights * violations.sum(dim=1)

    def weights(self, violations: Tensor, targets: Tensor) -> Tensor:
        """Draw competing classes, with replacement and at most as many as there are, until one violates the margin.

        Of n classes, the one of draw k has the weight of the estimated rank r = n // k: 1 + 1/2 + ... + 1/r.
        """
        classes = self.seen.nonzero()[:, 0]
        count = len(classes) - 1
        draws = torch.randint(count, (len(targets), count), device=targets.device)
        draws += draws >= torch.searchsorted(classes, targets)[:, None]  # all but the target
        violates = violations.gather(1, classes[draws]) > 0
        first = violates.int().argmax(dim=1)
        chosen = classes[draws.gather(1, first[:, None])[:, 0]]
        harmonic = (1 / torch.arange(1, count + 1, dtype=violations.dtype, device=targets.device)).cumsum(0)
        return weight_of_class(violations, chosen, harmonic[count // (first + 1) - 1])


class DEVISE(Bilinear):
    """DeViSE: the cost of all violations."""

    settings_class = DeviseSettings

    def cost(self, violations: Tensor) -> Tensor:
        return violations.sum(dim=1)

    def weights(self, violations: Tensor, targets: Tensor) -> Tensor:
        """Choose the first violation in the order of classes."""
        return weight_of_class(violations, (violations > 0).int().argmax(dim=1))


class SJE(Bilinear):
    """SJE: the cost of the largest violation."""

    settings_class = SjeSettings

    def cost(self, violations: Tensor) -> Tensor:
        return violations.amax(dim=1)

    def compared(self, embedded: Tensor) -> Tensor:
        """Standardise each image's embedding, for the choice alone."""
        deviation = embedded.std(dim=1, correction=0, keepdim=True)
        return (embedded - embedded.mean(dim=1, keepdim=True)) / torch.where(deviation > 0, deviation, 1)

    def weights(self, violations: Tensor, targets: Tensor) -> Tensor:
        """Choose the largest violation, of equal ones the first."""
        return weight_of_class(violations, violations.argmax(dim=1))
