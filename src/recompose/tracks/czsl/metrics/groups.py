"""Accuracy by how often training showed a pair: the groups of Duplex's Tables 12 and 13."""

import numpy as np

GROUPS = ("head", "medium", "tail", "unseen")  # by how often training showed a pair
SHARES = (0.2, 0.5)  # of the seen pairs, from the most frequent one: the ends of head and of medium


def frequency_groups(training_images: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the group [pairs] of each pair, as an index in ``GROUPS``.

    Head is the most frequent fifth of the seen pairs, medium the next three tenths, tail the other half. Cuts are
    rounded to whole pairs, and among equally frequent pairs the ones with lower indices come first; Duplex specifies
    neither.

    Args:
        training_images: [pairs], their number.
        seen: [pairs] bool.

    Example:
        >>> groups = frequency_groups(np.array([9, 1, 0, 5, 2, 2]), np.array([True, True, False, True, True, True]))
        >>> [GROUPS[group] for group in groups]
        ['head', 'tail', 'unseen', 'medium', 'tail', 'tail']
    """
    falling = np.lexsort((np.arange(len(training_images)), -training_images, ~seen))
    count = int(seen.sum())
    begins = [*(round(share * count) for share in SHARES), count]
    groups = np.empty(len(training_images), dtype=np.int64)
    groups[falling] = np.searchsorted(begins, np.arange(len(training_images)), side="right")
    return groups


def group_accuracies(predicted: np.ndarray, targets: np.ndarray, groups: np.ndarray) -> dict[str, float]:
    """Return the share of right predictions among the images of each group, and of all ``seen`` ones together; groups
    without images are left out.

    Args:
        predicted: [images], the predicted pairs.
        targets: [images], the true ones.
        groups: [pairs], indices in ``GROUPS``.

    Example:
        >>> group_accuracies(np.array([0, 0, 1]), np.array([0, 1, 1]), groups=np.array([0, 3]))
        {'head': 1.0, 'unseen': 0.5, 'seen': 1.0}
    """
    right, group = predicted == targets, groups[targets]
    members = {name: group == index for index, name in enumerate(GROUPS)} | {"seen": group != GROUPS.index("unseen")}
    return {name: float(right[of_group].mean()) for name, of_group in members.items() if of_group.any()}
