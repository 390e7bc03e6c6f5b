"""What lives at a time is counted."""

import torch

from benchmarks.memory import Living


def test_bytes_are_counted_for_as_long_as_tensors_live() -> None:
    living = Living()
    with living:
        first = torch.zeros(1000, device="meta")  # 4,000 bytes
        view = first.view(10, 100).T
        doubled = view * 2
        assert living.now == 8000
        del doubled
        assert (living.now, living.peak) == (4000, 8000)
        del first
        assert living.now == 4000  # the view still needs it
        del view
    assert (living.now, living.peak) == (0, 8000)
