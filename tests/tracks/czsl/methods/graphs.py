"""Duplex's graph of a batch, written out node by node as a dense adjacency matrix (Eqs. 11 to 16)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Pair = tuple[int, int]
Phi = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Batch:
    """Labels of images, features [B, E] of their states and objects, and posteriors [B, states] and [B, objects]."""

    states: list[int]
    objects: list[int]
    of_states: Tensor
    of_objects: Tensor
    p_states: Tensor
    p_objects: Tensor


def unit(x: Tensor) -> Tensor:
    """At length one."""
    return x / (x * x).sum(dim=-1, keepdim=True).sqrt()


def plain_candidates(states: list[int], objects: list[int], target: list[Pair]) -> set[Pair]:
    """Eqs. 12 and 13."""
    return {(m, n) for m in states for n in objects} & set(target)


def nodes_of(pairs: list[Pair], batch: Batch) -> list[tuple[str, Any]]:
    """The nodes in the order of Eq. 14: prototypes, states, objects and couples."""
    images = range(len(batch.states))
    return [
        *(("prototype", pair) for pair in pairs),
        *(("state", i) for i in images),
        *(("object", j) for j in images),
        *(("couple", (i, j)) for i in images for j in images),
    ]


def edge(source: tuple[str, Any], target: Pair, pairs: list[Pair], batch: Batch, edges: str) -> Tensor:
    """The weight of the edge from a node into a candidate's prototype (Eq. 15)."""
    (kind, who), (m, n) = source, target
    nothing = batch.p_states.new_zeros(())
    if kind == "state":
        shares = len({other for state, other in pairs if state == m})
        return batch.p_states[who, m] / shares if edges == "posteriors" or batch.states[who] == m else nothing
    if kind == "object":
        shares = len({other for other, name in pairs if name == n})
        return batch.p_objects[who, n] / shares if edges == "posteriors" or batch.objects[who] == n else nothing
    if kind == "couple":
        i, j = who
        if (batch.states[i], batch.objects[j]) == (m, n):
            return batch.p_states[i, m] * batch.p_objects[j, n]
    return nothing


def plain_adjacency(pairs: list[Pair], batch: Batch, edges: str) -> Tensor:
    """W [nodes, nodes]: what stands in row u and column v goes from v to u."""
    nodes = nodes_of(pairs, batch)
    nothing = batch.p_states.new_zeros(())
    rows = []
    for kind, who in nodes:
        if kind == "prototype":
            rows.append(torch.stack([edge(source, who, pairs, batch, edges) for source in nodes]))
        else:
            rows.append(torch.stack([nothing] * len(nodes)))
    return torch.stack(rows)


def plain_aggregated(pairs: list[Pair], batch: Batch, phi: Phi, edges: str, prototypes: Tensor) -> Tensor:
    """The candidates [pairs, E] after Eq. 16, with the prototypes [pairs, E] that they have before."""
    images = range(len(batch.states))
    couples = [phi(batch.of_states[i], batch.of_objects[j]) for i in images for j in images]
    local = torch.cat([prototypes, batch.of_states, batch.of_objects, torch.stack(couples)])
    weights = plain_adjacency(pairs, batch, edges)[: len(pairs)]
    return torch.diag(1 / weights.sum(dim=1)) @ weights @ local
