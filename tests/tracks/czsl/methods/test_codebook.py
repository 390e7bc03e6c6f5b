"""The codebook against loops over images, states and objects."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from recompose.tracks.czsl.methods.duplex import Codebook
from tests.tracks.czsl.methods.graphs import unit

STATES, OBJECTS, WIDTH = 3, 2, 5
# uneven counts; no image shows (2, 0) or (1, 1)
LABELS = [[0, 0], [0, 1], [0, 0], [1, 0], [2, 1], [0, 0], [2, 1], [0, 1]]
PAIRS = torch.tensor([[2, 0], [0, 1], [1, 1]])


def made(seed: int = 0) -> Codebook:
    torch.manual_seed(seed)
    return Codebook(STATES, OBJECTS, WIDTH)


def random_rows(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def lengths(codebook: Codebook) -> Tensor:
    return (codebook.prototypes**2).sum(dim=-1).sqrt()


def mean(rows: list[list[float]]) -> list[float]:
    """Of unit length, of embeddings that are brought to unit length before."""
    total = [0.0] * WIDTH
    for row in rows:
        length = math.sqrt(sum(x * x for x in row))
        total = [a + x / length for a, x in zip(total, row, strict=True)]
    length = math.sqrt(sum(x * x for x in total))
    return [x / length for x in total]


def plain_means(embeddings: Tensor, labels: list[list[int]]) -> Tensor:
    """Prototypes [states, objects, E]: means of a pair's images, or what its state's and its object's make together."""
    rows = embeddings.tolist()
    actual = torch.zeros(STATES, OBJECTS, WIDTH)
    for m in range(STATES):
        for n in range(OBJECTS):
            shown = [row for row, label in zip(rows, labels, strict=True) if label == [m, n]]
            if shown:
                actual[m, n] = torch.tensor(mean(shown))
                continue
            of_state = mean([row for row, (state, _) in zip(rows, labels, strict=True) if state == m])
            of_object = mean([row for row, (_, name) in zip(rows, labels, strict=True) if name == n])
            actual[m, n] = torch.tensor(mean([[a + b for a, b in zip(of_state, of_object, strict=True)]]))
    return actual


# where it begins


def test_it_begins_at_a_random_direction_for_every_pair() -> None:
    codebook = made()
    assert codebook.prototypes.shape == (STATES, OBJECTS, WIDTH)
    assert codebook.prototypes.dtype == torch.float32
    torch.testing.assert_close(lengths(codebook), torch.ones(STATES, OBJECTS))
    cosines = codebook.prototypes.view(-1, WIDTH) @ codebook.prototypes.view(-1, WIDTH).T
    assert (cosines - torch.eye(STATES * OBJECTS)).abs().max() < 0.99
    assert torch.equal(made().prototypes, codebook.prototypes)
    assert not torch.equal(made(1).prototypes, codebook.prototypes)


def test_it_is_kept_and_not_learned() -> None:
    codebook = made()
    assert not list(codebook.parameters())
    assert set(codebook.state_dict()) == {"prototypes"}
    other = made(1)
    other.load_state_dict(codebook.state_dict())
    assert torch.equal(other.prototypes, codebook.prototypes)


@pytest.mark.parametrize("seed", range(3))
def test_it_begins_at_means_of_embeddings(seed: int) -> None:
    embeddings = random_rows(len(LABELS), WIDTH, seed=seed)
    codebook = made()
    codebook.begin_at_means(embeddings, torch.tensor(LABELS))
    torch.testing.assert_close(codebook.prototypes, plain_means(embeddings, LABELS), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(lengths(codebook), torch.ones(STATES, OBJECTS))
    assert codebook.prototypes.dtype == torch.float32


def test_neither_lengths_nor_precision_nor_order_of_embeddings_matter() -> None:
    embeddings, labels = random_rows(len(LABELS), WIDTH), torch.tensor(LABELS)
    first, second = made(), made(1)
    first.begin_at_means(embeddings, labels)
    factors = torch.tensor([0.01, 3.0, 100.0, 1.0, 0.5, 7.0, 20.0, 0.3]).double()
    order = torch.tensor([6, 2, 0, 7, 4, 1, 5, 3])
    second.begin_at_means((embeddings * factors[:, None])[order], labels[order])
    torch.testing.assert_close(second.prototypes, first.prototypes)
    second.begin_at_means(embeddings.bfloat16(), labels)
    torch.testing.assert_close(second.prototypes, first.prototypes, atol=0.01, rtol=0)


def test_a_name_without_images_leaves_a_pair_to_the_other() -> None:
    codebook = made()
    embeddings = random_rows(2, WIDTH)
    codebook.begin_at_means(embeddings, torch.tensor([[0, 0], [1, 1]]))
    torch.testing.assert_close(codebook.prototypes[2], unit(embeddings))


def test_without_images_every_prototype_stays() -> None:
    codebook = made()
    before = codebook.prototypes.clone()
    codebook.begin_at_means(torch.empty(0, WIDTH), torch.empty(0, 2, dtype=torch.long))
    assert torch.equal(codebook.prototypes, before)


# reading and writing


def test_prototypes_are_found_by_state_and_object() -> None:
    codebook = made()
    actual = codebook.lookup(PAIRS)
    assert actual.shape == (3, WIDTH)
    for row, (m, n) in zip(actual, PAIRS.tolist(), strict=True):
        assert torch.equal(row, codebook.prototypes[m, n])


@pytest.mark.parametrize("momentum", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_an_update_is_a_weighted_sum_at_unit_length(momentum: float) -> None:
    codebook, refined = made(), 0.3 * random_rows(3, WIDTH)
    before = codebook.prototypes.clone()
    actual = codebook.blend(PAIRS, refined, momentum)
    for row, new, (m, n) in zip(actual, refined.tolist(), PAIRS.tolist(), strict=True):
        mixed = [
            momentum * a + (1 - momentum) * b for a, b in zip(codebook.prototypes[m, n].tolist(), new, strict=True)
        ]
        length = math.sqrt(sum(x * x for x in mixed))
        torch.testing.assert_close(row, torch.tensor([x / length for x in mixed]))
    assert torch.equal(codebook.prototypes, before)


def test_an_update_passes_gradient_to_what_is_refined_alone() -> None:
    codebook, refined, towards = made(), random_rows(3, WIDTH).requires_grad_(), random_rows(3, WIDTH, seed=2)
    (codebook.blend(PAIRS, refined, 0.75) * towards).sum().backward()
    mixed = 0.75 * codebook.lookup(PAIRS) + 0.25 * refined.detach()
    length = (mixed**2).sum(dim=1, keepdim=True).sqrt()
    direction = mixed / length
    # what is orthogonal to the direction, at the share and the scale of the mixture
    expected = 0.25 / length * (towards - (towards * direction).sum(dim=1, keepdim=True) * direction)
    torch.testing.assert_close(refined.grad, expected)
    assert codebook.prototypes.grad is None
    assert not codebook.prototypes.requires_grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_only_what_is_written_changes_and_precision_stays(dtype: torch.dtype) -> None:
    codebook, new = made(), random_rows(3, WIDTH).to(dtype)
    before, place = codebook.prototypes.clone(), codebook.prototypes.data_ptr()
    codebook.write(PAIRS, new.requires_grad_())
    written = {(m, n): row for (m, n), row in zip(PAIRS.tolist(), new.detach().float(), strict=True)}
    for m in range(STATES):
        for n in range(OBJECTS):
            assert torch.equal(codebook.prototypes[m, n], written.get((m, n), before[m, n]))
    assert codebook.prototypes.dtype == torch.float32
    assert codebook.prototypes.data_ptr() == place
    assert not codebook.prototypes.requires_grad


def test_what_was_read_before_writing_stays_as_it_was() -> None:
    codebook = made()
    actual = codebook.lookup(PAIRS)
    before = actual.clone()
    codebook.write(PAIRS, random_rows(3, WIDTH))
    assert torch.equal(actual, before)


# other starts of unseen pairs


def plain_start(embeddings: Tensor, labels: list[list[int]], unseen: str) -> dict[tuple[int, int], Tensor]:
    """Where pairs that no image shows begin, of states and objects that images show."""
    rows = [row / row.norm() for row in embeddings.double()]
    shown = {(s, o) for s, o in labels}

    def mean_of(chosen: list[Tensor]) -> Tensor:
        return sum(chosen, torch.zeros(())) / len(chosen)

    grand = mean_of(rows)
    actual = {}
    if unseen == "least-squares":
        seen = sorted(shown)
        targets = []
        for pair in seen:
            of_pair = mean_of([row for row, label in zip(rows, labels, strict=True) if tuple(label) == pair])
            targets.append(of_pair / of_pair.norm())
        design = torch.zeros(len(seen), 6, dtype=torch.double)
        for number, (s, o) in enumerate(seen):
            design[number, s] = design[number, 3 + o] = 1
        parts = torch.linalg.lstsq(design, torch.stack(targets), driver="gelsd").solution
    for s in {s for s, _ in shown}:
        for o in {o for _, o in shown}:
            if unseen == "centred":
                of_state = mean_of([row for row, label in zip(rows, labels, strict=True) if label[0] == s])
                of_object = mean_of([row for row, label in zip(rows, labels, strict=True) if label[1] == o])
                vector = of_state + of_object - grand
            else:
                vector = parts[s] + parts[3 + o]
            if (s, o) not in shown:
                actual[s, o] = (vector / vector.norm()).float()
    return actual


@pytest.mark.parametrize("unseen", ["centred", "least-squares"])
def test_unseen_pairs_may_begin_without_the_grand_mean_or_by_least_squares(unseen: Any) -> None:
    labels = [[0, 0], [0, 1], [1, 1], [2, 2], [2, 1], [0, 0], [1, 2]]
    embeddings = 3 * random_rows(len(labels), 4, seed=4) + 1
    codebook = Codebook(3, 3, 4)
    codebook.begin_at_means(embeddings, torch.tensor(labels), unseen)
    expected = plain_start(embeddings, labels, unseen)
    assert set(expected) == {(0, 2), (1, 0), (2, 0)}
    for (s, o), vector in expected.items():
        torch.testing.assert_close(codebook.prototypes[s, o], vector, atol=1e-5, rtol=1e-4)
    plain = Codebook(3, 3, 4)
    plain.begin_at_means(embeddings, torch.tensor(labels))
    for s, o in labels:
        torch.testing.assert_close(codebook.prototypes[s, o], plain.prototypes[s, o])
    assert not torch.allclose(codebook.prototypes[0, 2], plain.prototypes[0, 2], atol=1e-2)


@pytest.mark.parametrize("unseen", ["sum", "centred", "least-squares"])
def test_pairs_of_which_images_show_neither_name_stay_and_lengths_are_one(unseen: Any) -> None:
    codebook = Codebook(3, 3, 4)
    before = codebook.prototypes.clone()
    codebook.begin_at_means(random_rows(3, 4), torch.tensor([[0, 0], [1, 1], [0, 1]]), unseen)
    assert torch.equal(codebook.prototypes[2, 2], before[2, 2])
    torch.testing.assert_close(codebook.prototypes.norm(dim=-1), torch.ones(3, 3))


def test_a_trained_codebook_is_a_parameter_and_is_written_to_all_the_same() -> None:
    codebook = Codebook(2, 2, 3, trained=True)
    assert dict(codebook.named_parameters()).keys() == codebook.state_dict().keys() == {"prototypes"}
    pairs, rows = torch.tensor([[1, 0]]), torch.tensor([[0.0, 1.0, 0.0]])
    loss = codebook.lookup(torch.tensor([[0, 1], [1, 0]])).sum()
    codebook.write(pairs, rows)
    loss.backward()
    assert codebook.prototypes.grad is not None
    assert torch.equal(codebook.prototypes[1, 0], rows[0])
