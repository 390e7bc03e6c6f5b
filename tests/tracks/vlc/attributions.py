"""What evaluations keep of attribution, made up."""

import numpy as np

from recompose.tracks.vlc.attribution.store import Attributed


def made_up(seed: int, texts: int = 6, tokens: int = 7, side: int = 3, pictures: int = 2) -> Attributed:
    """Captions with some marks and some scores."""
    rng = np.random.default_rng(seed)
    objects = rng.random((texts, tokens)) < 0.4
    scores = {method: rng.random((texts, tokens)).astype(np.float32) + 0.01 for method in ("gradcam", "attention")}
    scores["gradcam"][rng.random((texts, tokens)) < 0.2] = np.nan
    similarity = rng.random(texts).astype(np.float32)
    similarity[rng.random(texts) < 0.3] = np.nan
    return Attributed(
        items=rng.permutation(10 * texts)[:texts],
        ids=rng.integers(0, 500, (texts, tokens)),
        spans=rng.integers(0, 30, (texts, tokens, 2)),
        objects=objects,
        composition=~objects & (rng.random((texts, tokens)) < 0.5),
        similarity=similarity,
        scores=scores,
        shown=rng.permutation(texts)[:pictures],
        patches={"gradcam": rng.random((pictures, side * side)).astype(np.float32)},
    )
