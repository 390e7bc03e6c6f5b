"""The graph of a batch against sets, loops over nodes and closed forms."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.overrides import TorchFunctionMode

from recompose.tracks.czsl.methods.duplex import Compose, Edges, Factors, aggregate, candidates
from tests.tracks.czsl.methods.graphs import Batch, Pair, plain_aggregated, plain_candidates, unit

EDGES: list[Edges] = ["posteriors", "labels"]
STATES, OBJECTS, WIDTH = 4, 3, 5
Matrices = tuple[Tensor, Tensor]
# two images of one pair; states 1 and 3 and objects 0 and 2; of the four pairs that they make, three are in the target,
# and one of these has no image
LABELS = [1, 3, 1, 1], [0, 2, 0, 2]
TARGET = [(1, 0), (3, 2), (3, 0), (0, 0), (1, 1)]


def random_batch(seed: int, states: list[int], objects: list[int]) -> Batch:
    """Unlike each other, and with posteriors that do not follow labels."""
    generator = torch.Generator().manual_seed(seed)

    def numbers(width: int) -> Tensor:
        return torch.randn(len(states), width, generator=generator, dtype=torch.float64)

    posteriors = (1.5 * numbers(STATES)).softmax(dim=-1), (1.5 * numbers(OBJECTS)).softmax(dim=-1)
    return Batch(states, objects, unit(numbers(WIDTH)), unit(numbers(WIDTH)), *posteriors)


def random_labels(seed: int, count: int) -> tuple[list[int], list[int]]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(size, (count,), generator=generator).tolist() for size in (STATES, OBJECTS))


def random_target(seed: int, states: list[int], objects: list[int]) -> list[Pair]:
    """Pairs of a batch, and about half of the others."""
    shares = torch.rand(STATES, OBJECTS, generator=torch.Generator().manual_seed(seed))
    return sorted({*zip(states, objects, strict=True)} | {(m, n) for m, n in (shares > 0.5).nonzero().tolist()})


def matrices(seed: int) -> Matrices:
    generator = torch.Generator().manual_seed(seed)
    first, second = torch.randn(2, WIDTH, WIDTH, generator=generator, dtype=torch.float64)
    return first, second


def phi(of: Matrices, state: Tensor, thing: Tensor) -> Tensor:
    """A composition [..., E] that tells state from object."""
    return unit((state @ of[0].T + thing @ of[1].T).tanh())


def factors(batch: Batch) -> tuple[Factors, Factors]:
    return (
        Factors(torch.tensor(batch.states), batch.of_states, batch.p_states),
        Factors(torch.tensor(batch.objects), batch.of_objects, batch.p_objects),
    )


def allowed(target: list[Pair]) -> Tensor:
    actual = torch.zeros(STATES, OBJECTS, dtype=torch.bool)
    for m, n in target:
        actual[m, n] = True
    return actual


def found_candidates(batch: Batch, target: list[Pair]) -> Tensor:
    return candidates(torch.tensor(batch.states), torch.tensor(batch.objects), allowed(target))


def composing(batch: Batch, of: Matrices) -> Compose:
    return lambda first, second: phi(of, batch.of_states[first], batch.of_objects[second])


def tuples(pairs: Tensor) -> list[Pair]:
    return [(int(m), int(n)) for m, n in pairs]


# candidates


@given(
    labels=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=8),
    target=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 3))),
)
def test_candidates_are_the_target_s_pairs_of_the_batch_s_states_and_objects(
    labels: list[Pair], target: set[Pair]
) -> None:
    states, objects = ([pair[place] for pair in labels] for place in (0, 1))
    permitted = torch.tensor([[(m, n) in target for n in range(4)] for m in range(5)])
    actual = candidates(torch.tensor(states), torch.tensor(objects), permitted)
    assert actual.shape[1] == 2
    assert len(actual) == len(set(tuples(actual)))
    assert set(tuples(actual)) == plain_candidates(states, objects, list(target))


# aggregation


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize(("seed", "count"), [(0, 1), (1, 2), (2, 5), (3, 7), (4, 7)])
def test_messages_are_those_of_the_adjacency_matrix(seed: int, count: int, edges: Edges) -> None:
    states, objects = random_labels(seed, count)
    batch, of = random_batch(seed, states, objects), matrices(seed)
    pairs = found_candidates(batch, random_target(seed, states, objects))
    for before in torch.randn(2, len(pairs), WIDTH, dtype=torch.float64):  # prototypes do not send to themselves
        expected = plain_aggregated(tuples(pairs), batch, lambda z, y: phi(of, z, y), edges, before)
        torch.testing.assert_close(aggregate(pairs, *factors(batch), composing(batch, of), edges), expected)


@pytest.mark.parametrize("edges", EDGES)
def test_gradients_are_those_of_the_adjacency_matrix(edges: Edges) -> None:
    batch, of = random_batch(0, *LABELS), matrices(0)
    learned = [batch.of_states, batch.of_objects, batch.p_states, batch.p_objects, *of]
    for tensor in learned:
        tensor.requires_grad_()
    pairs = found_candidates(batch, TARGET)
    towards = torch.randn(len(pairs), WIDTH, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    actual = aggregate(pairs, *factors(batch), composing(batch, of), edges)
    expected = plain_aggregated(tuples(pairs), batch, lambda z, y: phi(of, z, y), edges, torch.zeros_like(towards))
    of_found = torch.autograd.grad((actual * towards).sum(), learned)
    of_expected = torch.autograd.grad((expected * towards).sum(), learned)
    for gradient, right in zip(of_found, of_expected, strict=True):
        torch.testing.assert_close(gradient, right)
        assert right.abs().max() > 1e-3


@pytest.mark.parametrize(
    ("edges", "states", "objects"),
    [("posteriors", [[0.9, 0.3], [0.1, 0.7]], [0.6, 0.2]), ("labels", [[0.9, 0.0], [0.0, 0.7]], [0.6, 0.2])],
)
def test_two_images_of_one_object_share_out_what_they_send(
    edges: Edges, states: list[list[float]], objects: list[float]
) -> None:
    """Each state has one candidate and gets all that is sent to it; the object has two and halves it."""
    basis = torch.eye(8)
    batch = Batch(
        states=[0, 1],
        objects=[0, 0],
        of_states=basis[:2],
        of_objects=basis[2:4],
        p_states=torch.tensor([[0.9, 0.1], [0.3, 0.7]]),
        p_objects=torch.tensor([[0.6], [0.2]]),
    )
    made = basis[4:].view(2, 2, 8)
    actual = aggregate(torch.tensor([[0, 0], [1, 0]]), *factors(batch), lambda i, j: made[i, j], edges)
    for m in range(2):
        own = batch.p_states[m, m]
        expected = [
            *states[m],
            *(p / 2 for p in objects),
            *(own * p if m == i else 0 for i in range(2) for p in objects),
        ]
        torch.testing.assert_close(actual[m], torch.tensor(expected) / sum(expected))


# precision


def in_full(batch: Batch) -> Batch:
    """In 32 bits."""
    floats = (batch.of_states, batch.of_objects, batch.p_states, batch.p_objects)
    return Batch(batch.states, batch.objects, *(part.float() for part in floats))


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_where_towers_compute_in_16_bits_the_graph_does_not(dtype: torch.dtype, edges: Edges) -> None:
    """A thousand couples make each candidate: in 16 bits sums would stop to grow."""
    states, objects = [0, 1] * 32, [0, 0, 1, 1] * 16
    batch = in_full(random_batch(0, states, objects))
    pairs, made = found_candidates(batch, [(0, 0), (0, 1), (1, 0)]), torch.randn(64, 64, WIDTH)
    expected = aggregate(pairs, *factors(batch), lambda i, j: made[i, j], edges)
    with torch.autocast("cpu", dtype=dtype):
        actual = aggregate(pairs, *factors(batch), lambda i, j: made[i, j], edges)
    assert actual.dtype == torch.float32
    assert torch.equal(actual, expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_features_composed_in_16_bits_are_summed_in_32(dtype: torch.dtype) -> None:
    batch = in_full(random_batch(0, *LABELS))
    pairs, made = found_candidates(batch, TARGET), torch.randn(4, 4, WIDTH).to(dtype)
    with torch.autocast("cpu", dtype=dtype):
        actual = aggregate(pairs, *factors(batch), lambda i, j: made[i, j], "posteriors")
    assert actual.dtype == torch.float32
    assert torch.equal(actual, aggregate(pairs, *factors(batch), lambda i, j: made[i, j].float(), "posteriors"))


@pytest.mark.parametrize("edges", EDGES)
def test_a_candidate_that_nobody_believes_in_gets_nothing_and_no_number_that_is_none(edges: Edges) -> None:
    """Posteriors of 32 bits can be 0, of an image's own state and object, too."""
    p_states, p_objects = torch.tensor([[0.0, 1.0, 0.0]] * 2), torch.tensor([[0.0, 1.0]] * 2)
    features = torch.eye(4)
    batch = Batch([0, 1], [0, 1], features[:2], features[2:], p_states, p_objects)
    learned = [batch.of_states, batch.of_objects, p_states, p_objects]
    for tensor in learned:
        tensor.requires_grad_()
    made = torch.randn(2, 2, 4)
    actual = aggregate(torch.tensor([[0, 0], [1, 1]]), *factors(batch), lambda i, j: made[i, j], edges)
    assert torch.equal(actual[0], torch.zeros(4))
    assert actual[1].norm() > 0.1
    for gradient in torch.autograd.grad(actual.sum(), learned):
        assert gradient.isfinite().all()


def test_a_degree_below_what_32_bits_hold_in_full_gives_no_more_than_its_features() -> None:
    p_states, p_objects = torch.tensor([[1e-40, 1.0]]), torch.tensor([[1e-41, 1.0]])
    features = torch.eye(2)
    batch = Batch([0], [0], features[:1], features[1:], p_states, p_objects)
    actual = aggregate(torch.tensor([[0, 0]]), *factors(batch), lambda i, _: torch.zeros(len(i), 2), "posteriors")
    assert actual.isfinite().all()
    assert actual.norm() <= 1
    assert actual[0, 0] > actual[0, 1]


# work


@pytest.mark.parametrize("seed", range(4))
def test_only_couples_that_make_a_candidate_are_composed_each_once(seed: int) -> None:
    states, objects = random_labels(seed, 6)
    batch, of = random_batch(seed, states, objects), matrices(seed)
    target = list(zip(states, objects, strict=True))
    pairs = found_candidates(batch, target)
    calls: list[list[Pair]] = []

    def compose(first: Tensor, second: Tensor) -> Tensor:
        calls.append([(int(i), int(j)) for i, j in zip(first, second, strict=True)])
        return composing(batch, of)(first, second)

    aggregate(pairs, *factors(batch), compose, "posteriors")
    (couples,) = calls
    expected = {(i, j) for i in range(6) for j in range(6) if (states[i], objects[j]) in target}
    assert len(couples) == len(set(couples))
    assert set(couples) == expected
    assert 6 <= len(expected) < 36


class Sizes(TorchFunctionMode):
    """Notes the number of elements of every tensor that is made."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[int] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if isinstance(made, Tensor):
            self.found.append(made.numel())
        return made


def test_no_tensor_is_larger_than_the_features_of_couples_and_of_candidates() -> None:
    """None holds an element for each candidate and node, nor for each candidate, image and feature."""
    labels = torch.arange(6)
    features = torch.randn(2, 6, WIDTH)
    states, objects = (Factors(labels, part, torch.full((6, 6), 1 / 6)) for part in features)
    pairs = candidates(labels, labels, torch.ones(6, 6, dtype=torch.bool))
    made = torch.randn(6, 6, WIDTH)
    for edges in EDGES:
        with Sizes() as sizes:
            aggregate(pairs, states, objects, lambda i, j: made[i, j], edges)
        assert len(pairs) == 36
        assert max(sizes.found) == 36 * WIDTH
