"""Linear maps against sums over features, and against torch's own."""

from unittest.mock import patch

import pytest
import torch
from hypothesis import given
from hypothesis import settings as checked
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from recompose import kernels
from recompose.backbones.clip import build
from recompose.backbones.linear import FEWEST, MOST, Linear, linear
from recompose.machine import LARGE

PAYS = (8 * FEWEST, 17, 128), (512, 128)  # of x and of a weight: more than LARGE multiplications


def summed(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """What a linear map is: of each row its products with the rows of the weight, in 64 bits."""
    rows, weight = x.reshape(-1, x.shape[-1]).double(), weight.double()
    out = torch.stack([(rows * row).sum(dim=1) for row in weight], dim=1)
    return (out if bias is None else out + bias.double()).float().reshape(*x.shape[:-1], len(weight))


def sums_of(x: Tensor, weight: Tensor, bias: Tensor, passed_back: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A linear map of x [..., in], and the gradients of x, weight [out, in] and bias [out] where this [..., out] is
    passed back: sums over features, over what comes out, and over rows.
    """
    rows, back = x.reshape(-1, x.shape[-1]), passed_back.reshape(-1, len(weight))
    of_x = sum((back[:, [n]] * weight[n] for n in range(len(weight))), torch.zeros_like(rows))
    of_weight = torch.stack([(back[:, [n]] * rows).sum(dim=0) for n in range(len(weight))])
    return summed(x, weight, bias), of_x.reshape(x.shape), of_weight, back.sum(dim=0)


def is_convolved(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> bool:
    """Return whether a map of x is computed as a convolution where oneDNN takes all large ones."""
    chosen = patch.object(kernels, "onednn_from", LARGE)
    with chosen, patch.object(functional, "conv2d", wraps=functional.conv2d) as convolved:
        linear(x, weight, bias)
    return convolved.called


@pytest.mark.slow
@given(
    rows=st.lists(st.integers(1, 40), min_size=0, max_size=3),
    into=st.integers(1, 9),
    out=st.integers(1, 9),
    has_bias=st.booleans(),
    is_transposed=st.booleans(),
)
@checked(deadline=None)
def test_values_and_gradients_are_those_of_the_sums(
    rows: list[int], into: int, out: int, has_bias: bool, is_transposed: bool
) -> None:
    generator = torch.Generator().manual_seed(len(rows) + into + out)
    x = torch.randn(*rows, into, generator=generator)
    if is_transposed and len(rows) > 1:
        x = x.transpose(0, 1)
    weight, bias = torch.randn(out, into, generator=generator), torch.randn(out, generator=generator)
    wanted = [each.requires_grad_() for each in (x, weight, *([bias] if has_bias else []))]
    passed_back = torch.randn(*x.shape[:-1], out, generator=generator)
    with patch.object(kernels, "onednn_from", 0):
        mapped = linear(x, weight, bias if has_bias else None)
    found = [mapped, *torch.autograd.grad(mapped, wanted, passed_back)]
    tensors = [each.detach().double() for each in (x, weight, bias if has_bias else torch.zeros(out), passed_back)]
    sizes = sums_of(*(each.abs() for each in tensors))  # what sums may be off by follows from the sizes of their terms
    for each, expected, size in zip(found, sums_of(*tensors), sizes, strict=False):
        assert bool(((each - expected).abs() <= 1e-6 * size).all())


@pytest.mark.parametrize("rows", [FEWEST, 3 * FEWEST, 7 * 17, MOST])
def test_rows_that_can_be_dealt_evenly_are_convolved(rows: int) -> None:
    into = LARGE // rows // 64 + 1
    assert is_convolved(torch.ones(rows, into), torch.ones(64, into))


@pytest.mark.slow
def test_others_are_not() -> None:
    x, weight = torch.ones(PAYS[0]), torch.ones(PAYS[1])
    assert is_convolved(x, weight)
    assert not is_convolved(x[:1, :16], weight), "too few multiplications"
    assert not is_convolved(torch.ones(131 * 137, 128), weight), "no number of images from 16 to 128 divides these rows"
    assert not is_convolved(x.double(), weight.double()), "in 64 bits"
    assert not is_convolved(x.to(torch.bfloat16), weight.to(torch.bfloat16)), "in 16 bits"
    assert not is_convolved(x.to("meta"), weight.to("meta")), "on another device"
    with patch.object(functional, "conv2d", wraps=functional.conv2d) as convolved:
        linear(x, weight, None)
    assert not convolved.called, "nothing was chosen: torch's own"
    with torch.autocast("cpu", torch.bfloat16):
        assert not is_convolved(x, weight), "autocast chooses the precision"
        assert linear(x, weight, None).dtype == torch.bfloat16


def test_second_derivatives_are_those_of_the_sums() -> None:
    torch.manual_seed(0)
    tensors = [torch.randn(*shape, requires_grad=True) for shape in ((32, 3), (2, 3), (2,))]
    results = []
    for function in (linear, summed):
        with patch.object(kernels, "onednn_from", 0):
            first = torch.autograd.grad(function(*tensors).sin().sum(), tensors, create_graph=True)
            results.append(torch.autograd.grad(sum(each.square().sum() for each in first), tensors))
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_results_lie_in_memory_as_torch_s_do() -> None:
    with patch.object(kernels, "onednn_from", 0):
        found, expected = (each(torch.ones(PAYS[0]), torch.ones(PAYS[1]), None) for each in (linear, functional.linear))
    assert found.stride() == expected.stride()


@pytest.mark.parametrize("has_bias", [True, False])
def test_a_layer_shares_the_parameters_of_the_one_that_it_replaces(has_bias: bool) -> None:
    torch.manual_seed(0)
    replaced = nn.Linear(128, 512, bias=has_bias)
    layer, x = Linear.from_linear(replaced), torch.randn(PAYS[0])
    assert {name: id(each) for name, each in layer.named_parameters()} == {
        name: id(each) for name, each in replaced.named_parameters()
    }
    with patch.object(kernels, "onednn_from", 0):
        torch.testing.assert_close(layer(x), replaced(x), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_towers_give_the_same_where_all_their_maps_are_convolved() -> None:
    torch.manual_seed(0)
    backbone = build("shapes-clip", "gelu").eval()
    images, ids = torch.randn(16, 3, *backbone.image_size), backbone.tokens([f"a photo of {n} dogs" for n in range(16)])
    results = []
    for least in (0, None):
        with (
            patch.object(kernels, "onednn_from", least),
            patch.object(functional, "conv2d", wraps=functional.conv2d) as used,
        ):
            embeddings = backbone.encode_image(images), backbone.encode_text(ids)
        gradients = torch.autograd.grad(
            sum(each.square().sum() for each in embeddings), [p for p in backbone.parameters() if p.numel() > 1]
        )
        results.append([each.detach() for each in (*embeddings, *gradients)])
        assert (used.call_count > 4 * backbone.depth) == (least == 0)
    for convolved, plain in zip(*results, strict=True):
        assert float((convolved - plain).abs().max()) <= 1e-5 * float(plain.abs().max())
