"""Portable arithmetic: what libraries are told, and square roots that every processor rounds alike."""

import os
import subprocess
import sys
from math import isqrt
from pathlib import Path

import numpy as np
import pytest
import torch

from recompose import arithmetic
from recompose.arithmetic import NATIVE, OF_NUMPY, OF_TORCH, PORTABLE, environment_of, use
from recompose.errors import OtherArithmeticError

needs_portable = pytest.mark.skipif(arithmetic.CURRENT != PORTABLE, reason="arithmetic is native here")
TELL = "import recompose, os; from recompose.arithmetic import CURRENT; print(CURRENT, os.environ.get('MKL_CBWR'))"


def told(code: str, **variables: str) -> list[str]:
    """What a new process prints whose variables are not this one's."""
    others = {
        name: value for name, value in os.environ.items() if name not in {*OF_TORCH, *OF_NUMPY, arithmetic.CHOICE}
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=others | variables, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.skipif(not arithmetic.is_possible(), reason="this processor has no AVX2")
def test_a_process_is_portable_unless_it_is_told_otherwise_or_loaded_torch_before() -> None:
    assert told(TELL) == ["portable", "COMPATIBLE"]
    assert told(TELL, MKL_CBWR="AVX2", OPENBLAS_CORETYPE="Zen") == ["portable", "COMPATIBLE"]
    assert told(TELL, RECOMPOSE_ARITHMETIC="native") == ["native", "None"]
    assert told(TELL, RECOMPOSE_ARITHMETIC="native", MKL_CBWR="AVX2") == ["native", "AVX2"]  # the user's
    assert told(f"import torch; {TELL}") == ["native", "COMPATIBLE"]
    assert told(f"import torch; {TELL}", **OF_TORCH) == ["portable", "COMPATIBLE"]


@pytest.mark.skipif(not arithmetic.is_possible(), reason="this processor has no AVX2")
def test_a_process_of_the_other_arithmetic_gets_its_variables_and_loses_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    portable, native = environment_of(PORTABLE), environment_of(NATIVE)
    assert (OF_TORCH | OF_NUMPY).items() <= portable.items()
    assert OF_NUMPY.items() <= native.items() and not OF_TORCH.items() & native.items()
    assert (portable["RECOMPOSE_ARITHMETIC"], native["RECOMPOSE_ARITHMETIC"]) == (PORTABLE, NATIVE)


def test_a_recipe_of_the_other_arithmetic_is_refused_by_name() -> None:
    other = NATIVE if arithmetic.CURRENT == PORTABLE else PORTABLE
    if arithmetic.is_possible():
        with pytest.raises(OtherArithmeticError, match=f"RECOMPOSE_ARITHMETIC={other}"):
            use(other)
    use(arithmetic.CURRENT)


@pytest.mark.parametrize(
    ("machine", "info", "possible"),
    [
        ("x86_64", "flags\t\t: sse4_2 avx fma avx2 bmi2\n", True),
        ("x86_64", "flags\t\t: sse4_2 avx\n", False),
        ("aarch64", "flags\t\t: avx2 fma\n", False),
        ("x86_64", None, False),
    ],
)
def test_portable_arithmetic_needs_instructions_and_says_where_they_lack(
    machine: str,
    info: str | None,
    possible: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if info is not None:
        (tmp_path / "cpuinfo").write_text(info)
    monkeypatch.setattr(arithmetic, "CPU_INFO", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.machine", lambda: machine)
    kept = (arithmetic.is_possible, arithmetic._say_native)
    try:
        for function in kept:
            function.cache_clear()
        assert arithmetic.is_possible() == possible
        if not possible:
            use(PORTABLE)
            use(PORTABLE)
            assert capsys.readouterr().err.count("arithmetic is native") == 1
    finally:
        for function in kept:
            function.cache_clear()


@needs_portable
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_square_roots_are_the_nearest_numbers(kind: torch.dtype) -> None:
    """By whole numbers: the root of n / 4**k is sqrt(n) / 2**k, and isqrt is exact."""
    use(PORTABLE)
    bits = 24 if kind == torch.float32 else 53
    numbers = [int(n) for n in np.random.default_rng(0).integers(2 ** (bits - 2), 2**bits, 2000)]
    shift = 2 * (bits + 4)
    expected = []
    for number in numbers:
        root = isqrt(number << shift)  # floor; what is rounded off is less than its last bit
        expected.append(_nearest(root, bits) * 2.0 ** -(shift // 2))
    values = torch.tensor(numbers, dtype=kind)
    roots = torch.tensor(expected, dtype=torch.float64).to(kind)
    assert torch.equal(values.sqrt(), roots)
    assert torch.equal(values.clone().sqrt_(), roots)
    assert torch.equal(torch.sqrt(values, out=torch.empty(0, dtype=kind)), roots)
    assert torch.equal(torch.stack([values, values]).t().sqrt()[:, 1], roots)


def _nearest(number: int, bits: int) -> int:
    """The nearest whole number with so many leading bits; a tie cannot be, as roots are no halves of last bits."""
    drop = number.bit_length() - bits
    return (number + (1 << (drop - 1)) >> drop) << drop


@needs_portable
def test_square_roots_keep_kinds_gradients_and_what_has_none() -> None:
    use(PORTABLE)
    assert torch.tensor([4, 9]).sqrt().tolist() == [2.0, 3.0]
    assert torch.tensor(4.0, dtype=torch.bfloat16).sqrt().dtype == torch.bfloat16
    assert torch.tensor([-1.0, 0.0, torch.inf]).sqrt().tolist()[1:] == [0.0, torch.inf]
    assert torch.tensor(-1.0).sqrt().isnan()
    leaf = torch.tensor([4.0, 16.0], requires_grad=True)
    leaf.sqrt().sum().backward()
    assert leaf.grad is not None and leaf.grad.tolist() == [0.25, 0.125]


@needs_portable
@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16, torch.int64])
def test_products_of_small_whole_numbers_are_exact(kind: torch.dtype) -> None:
    """Every sum of them is a number of each kind, in any order."""
    use(PORTABLE)
    rng = np.random.default_rng(1)
    first, second, added = (rng.integers(-2, 3, shape) for shape in ((3, 5, 7), (3, 7, 4), (4,)))
    left, right, more = (torch.tensor(values).to(kind) for values in (first, second, added))
    expected = torch.tensor(first @ second).to(kind)
    assert torch.equal(torch.bmm(left, right), expected)
    assert torch.equal(left[0] @ right[0], expected[0])
    assert torch.equal(left[0].T.contiguous().T @ right[0], expected[0])
    assert torch.equal(torch.mm(left[0], right[0], out=torch.empty(0, dtype=kind)), expected[0])
    assert torch.equal(torch.addmm(more, left[0], right[0], beta=2, alpha=3), 2 * more + 3 * expected[0])
    assert torch.equal(left[0][:, :0] @ right[0][:0], torch.zeros(5, 4, dtype=kind))


@needs_portable
def test_products_have_the_gradients_of_their_differences() -> None:
    use(PORTABLE)
    shapes = ((4,), (3, 5), (5, 4))
    leaves = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(lambda added, first, second: torch.addmm(added, first, second), leaves)
    assert torch.autograd.gradcheck(lambda added, first, second: first @ second + added, leaves)
    batches = [leaf.detach().expand(2, *leaf.shape).clone().requires_grad_() for leaf in leaves[1:]]
    assert torch.autograd.gradcheck(torch.bmm, batches)


@needs_portable
def test_matrices_that_do_not_fit_are_refused_with_their_shapes() -> None:
    use(PORTABLE)
    for first, second in (
        (torch.ones(2, 3), torch.ones(2, 3)),
        (torch.ones(2, 3), torch.ones(3, 2, dtype=torch.float64)),
    ):
        with pytest.raises(RuntimeError, match=r"\[2, 3\] of torch.float32 and .* cannot be multiplied"):
            torch.mm(first, second)
