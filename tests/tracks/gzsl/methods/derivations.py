"""The methods written out for single images, regions and attributes, from the papers and from reading the released
code: TransZero at 7c10cdb, TransZero++ at c045f73, DAZLE at e5a0460, MegaCRN at 5158190, RCML at c9c5ab4.

Vectors are tensors, so that gradients can be compared; everything else is a list. ``p`` are a method's parameters by
their names.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import torch
from torch import Tensor

Parameters = Mapping[str, Tensor]
EPSILON = 1e-5  # of layer norms


def unit(vector: Tensor) -> Tensor:
    return vector / vector.square().sum().sqrt().clamp(min=1e-12)


def plain_softmax(logits: Sequence[Tensor]) -> list[Tensor]:
    powers = [(logit - max(logits).detach()).exp() for logit in logits]
    return [power / sum(powers) for power in powers]


def plain_sum(vectors: Sequence[Tensor]) -> Tensor:
    total = torch.zeros_like(vectors[0])
    for vector in vectors:
        total = total + vector
    return total


def linear(p: Parameters, name: str, x: Tensor) -> Tensor:
    rows = [weights @ x for weights in p[f"{name}.weight"]]
    return torch.stack(rows) + p.get(f"{name}.bias", torch.zeros(()))


def layer_norm(p: Parameters, name: str, x: Tensor) -> Tensor:
    centred = x - x.sum() / len(x)
    return centred / (centred.square().sum() / len(x) + EPSILON).sqrt() * p[f"{name}.weight"] + p[f"{name}.bias"]


def relation(i: int, j: int, side: int) -> list[float]:
    """How region i of a square grid lies to region j: sines of four quantities at eight frequencies, then cosines."""
    size = 1 / side + 1
    row, column = ((a - b) / side for a, b in zip(divmod(i, side), divmod(j, side), strict=True))
    logs = [math.log(max(abs(difference) / size, 1e-3)) for difference in (row, column)] + [0.0, 0.0]
    angles = [100 * log / 1000 ** (k / 8) for log, k in product(logs, range(8))]
    return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]


def attend(
    p: Parameters, name: str, queries: list[Tensor], tokens: list[Tensor], lowered: Tensor | None = None
) -> list[Tensor]:
    """One head; ``lowered`` [queries, tokens] is taken from the logits."""
    attended = []
    for i, query in enumerate(queries):
        asked = linear(p, f"{name}.query", query)
        logits = [asked @ linear(p, f"{name}.key", token) / math.sqrt(len(query)) for token in tokens]
        if lowered is not None:
            logits = [logit - lowered[i, j] for j, logit in enumerate(logits)]
        weights = plain_softmax(logits)
        values = [w * linear(p, f"{name}.value", token) for w, token in zip(weights, tokens, strict=True)]
        attended.append(linear(p, f"{name}.out", plain_sum(values)))
    return attended


def feed_forward(p: Parameters, name: str, x: Tensor) -> Tensor:
    return linear(p, f"{name}.second", linear(p, f"{name}.first", x).clamp(min=0))


def encode(p: Parameters, name: str, regions: list[Tensor], geometry: bool) -> list[Tensor]:
    lowered, side, count = None, math.isqrt(len(regions)), range(len(regions))
    if geometry:
        relations = {(i, j): torch.tensor(relation(i, j, side), dtype=regions[0].dtype) for i in count for j in count}
        rows = [[linear(p, f"{name}.attention.lowered", relations[i, j])[0].clamp(min=0) for j in count] for i in count]
        lowered = torch.stack([torch.stack(row) for row in rows])
    attended = attend(p, f"{name}.attention", regions, regions, lowered)
    encoded = []
    for region, change in zip(regions, attended, strict=True):
        x = layer_norm(p, f"{name}.within", region + change)
        x = layer_norm(p, f"{name}.wide", region + x)
        encoded.append(layer_norm(p, f"{name}.narrow", x + feed_forward(p, name, x)))
    return encoded


def decode(p: Parameters, name: str, queries: list[Tensor], tokens: list[Tensor]) -> list[Tensor]:
    if f"{name}.own.query.weight" in p:
        looked = attend(p, f"{name}.own", queries, queries)
        queries = [layer_norm(p, f"{name}.own_norm", q + change) for q, change in zip(queries, looked, strict=True)]
    looked = attend(p, f"{name}.cross", queries, tokens)
    queries = [layer_norm(p, f"{name}.cross_norm", q + change) for q, change in zip(queries, looked, strict=True)]
    return [layer_norm(p, f"{name}.norm", query + feed_forward(p, name, query)) for query in queries]


def plain_vgt(p: Parameters, grid: Tensor, words: list[Tensor], geometry: bool = True) -> tuple[Tensor, list[Tensor]]:
    """a^V [A] of one image [R, channels] and the features of attributes."""
    regions = [linear(p, "vgt.regions", unit(region)) for region in grid]
    attributes = [linear(p, "vgt.attributes", word) for word in words]
    features = decode(p, "vgt.decoder", attributes, encode(p, "vgt.encoder", regions, geometry))
    scores = [word @ p["vgt.W1"] @ feature for word, feature in zip(words, features, strict=True)]
    return torch.stack(scores), features


def plain_agt(
    p: Parameters, grid: Tensor, words: list[Tensor], queries: str = "regions"
) -> tuple[Tensor, list[Tensor]]:
    """a^A [A] of one image [R, channels], and what asks the memory, where there is one."""
    regions = [linear(p, "agt.regions", unit(region)) for region in grid]
    attributes = [linear(p, "agt.attributes", word) for word in words]
    encoded = encode(p, "agt.encoder", regions, True)
    features, asked = decode(p, "agt.decoder", encoded, attributes), []
    if "memory.patterns" in p:
        patterns = list(p["memory.patterns"])
        asking = features if queries == "regions" else [plain_sum(features) / len(features)]
        asked = [linear(p, "memory.ask", feature) for feature in asking]
        answers = []
        for query in asked:
            weights = plain_softmax([query @ pattern for pattern in patterns])
            value = plain_sum([w * pattern for w, pattern in zip(weights, patterns, strict=True)])
            answers.append(linear(p, "memory.answer", value))
        answers = answers if len(answers) == len(features) else answers * len(features)
        features = [feature + answer for feature, answer in zip(features, answers, strict=True)]
    scores = [u @ p["agt.W"] @ f for u, f in zip(encoded, features, strict=True)]
    between = torch.diag(p["agt.W4"]) if p["agt.W4"].dim() == 1 else p["agt.W4"]
    scores_of_attributes = [
        plain_sum([r * (region @ between @ attribute) for r, region in zip(scores, regions, strict=True)])
        for attribute in attributes
    ]
    return torch.stack(scores_of_attributes), asked


def plain_dazle(p: Parameters, grid: Tensor, words: list[Tensor]) -> Tensor:
    """What one image [R, channels] has of each attribute [A]."""
    regions = [unit(region) for region in grid]
    scores_of_attributes = []
    for word in words:
        weights = plain_softmax([word @ p["W2"] @ region for region in regions])
        feature = plain_sum([w * region for w, region in zip(weights, regions, strict=True)])
        score = sum(w * (word @ p["W1"] @ region) for w, region in zip(weights, regions, strict=True))
        scores_of_attributes.append(score * (1 / (1 + (-(word @ p["W3"] @ feature)).exp())) if "W3" in p else score)
    return torch.stack(scores_of_attributes)
