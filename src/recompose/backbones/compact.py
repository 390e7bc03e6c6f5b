"""The weights of a small CLIP in a small file: without the rows that pretraining never updated, and in 16 bits.

Most of a small CLIP is rows of its vocabulary of 49,408 tokens; synthetic captions use a few hundred of them. The file
has the used rows, by their ids. The others are filled in with their values before training, which are the same on every
machine.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from recompose.files import write_atomically

TABLE = "token_embedding.weight"
USED = "token_embedding.used"  # the ids [used] of the stored rows; absent where the whole table is stored
SPREAD = 0.02  # standard deviation of rows before training, as open_clip draws them
VOCABULARY = 49_408  # of CLIP's tokenizer
FILL_SEED = 0


def write_compact(state: Mapping[str, Tensor], used: Tensor, path: Path, about: Mapping[str, str]) -> None:
    """Write the weights of a CLIP with only the rows of these tokens, matrices in 16 bits.

    Args:
        state: the state of a CLIP, with the whole table of tokens [49408, D].
        used: the ids [used] of the tokens in the pretraining captions, sorted.
        path: the file.
        about: the metadata of the file.
    """
    compact = {name: _narrowed(tensor) for name, tensor in state.items() if name != TABLE}
    compact |= {TABLE: state[TABLE][used].half().contiguous(), USED: used.clone()}
    write_atomically(path, lambda temporary: save_file(compact, temporary, metadata=dict(about)))


def _narrowed(tensor: Tensor) -> Tensor:
    """Return matrices in 16 bits; vectors and scalars, which are few, unchanged."""
    return (tensor.half() if tensor.is_floating_point() and tensor.ndim > 1 else tensor.clone()).contiguous()


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the weights of a safetensors file in 32 bits; the table of tokens of a compact file is completed."""
    state = {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in load_file(path).items()}
    if USED in state:
        used = state.pop(USED)
        table = _untrained(state[TABLE].shape[1])
        table[used] = state[TABLE]
        state[TABLE] = table
    return state


def _untrained(width: int) -> Tensor:
    """Return rows [49408, width] as before training: uniform, from integers that are the same on every processor."""
    steps = np.random.default_rng(FILL_SEED).integers(
        -(2**15), 2**15, (VOCABULARY, width), dtype=np.int16, endpoint=False
    )
    return torch.from_numpy(steps).float() * (SPREAD * 3**0.5 / 2**15)
