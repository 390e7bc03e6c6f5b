"""Probabilities of models that were trained with a sigmoid on each pair of image and text, as SigLIP (Zhai et al.,
2023): classes do not share a probability of 1.

It matters where an image may show several classes, and images are ranked for each class: a softmax over classes would
lower the probability of one class for an image that shows another, too. Elsewhere only the order of classes counts,
which neither scale nor bias changes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

from recompose.tracks.vlc.suites.scores import BROKEN, Features
from recompose.tracks.vlc.suites.tasks import Classes


@dataclass(frozen=True)
class Sigmoid:
    """The factor on cosines, and the bias that is added."""

    scale: float
    bias: float

    def class_probabilities(self, task: Classes, features: Features) -> np.ndarray:
        """Return the probabilities [images, classes] that an image and a class belong together.

        A class is the normalised mean of the normalised embeddings of its prompts, as for other models.

        Example:
            >>> rows = np.arange(2)
            >>> features = Features(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), rows, rows)
            >>> task = Classes(np.array([0]), np.array([0]), ((0,), (1,)), ("a", "b"))
            >>> Sigmoid(scale=2.0, bias=-2.0).class_probabilities(task, features).round(3).tolist()
            [[0.5, 0.119]]
        """
        from scipy.special import expit

        classes = task.class_embeddings(features)
        rows = features.image_rows[task.images]
        # in 64 bits, in which confident classes do not tie at 1
        probabilities = expit(self.scale * (features.images[rows] @ classes.T).astype(np.float64) + self.bias)
        probabilities[rows == BROKEN] = np.nan
        return np.asarray(probabilities)


def sigmoid_of(model: nn.Module) -> Sigmoid | None:
    """Return the sigmoid of a model of open_clip; None if it has no bias."""
    towers: Any = model
    if getattr(towers, "logit_bias", None) is None:
        return None
    return Sigmoid(float(towers.logit_scale.exp()), float(towers.logit_bias))
