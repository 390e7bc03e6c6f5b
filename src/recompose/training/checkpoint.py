"""Checkpoints of runs: the tensors that a training can change, read back into the network that they are of."""

from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor, nn

from recompose.backbones.weight_files import misfit
from recompose.errors import CheckpointError

METHOD = "method."  # before a method's names, beside those of other modules of its training, such as augmentation


def restore(method: nn.Module, checkpoint: Path) -> None:
    """Load a run's checkpoint into its method, whose frozen parameters stay.

    Raises:
        CheckpointError: the checkpoint is of another method or of other settings.
    """
    method.load_state_dict(read_checkpoint(method, checkpoint, METHOD), strict=False)


def read_checkpoint(
    network: nn.Module, checkpoint: Path, prefix: str = "", *, with_buffers: bool = True
) -> dict[str, Tensor]:
    """Return the tensors of a run's checkpoint by the names of the network that takes them.

    Args:
        network: with the parameters frozen that were frozen in the run.
        checkpoint: a file of safetensors.
        prefix: of the network's names in the file; others are passed over.
        with_buffers: the run stored the network's buffers, too.

    Raises:
        CheckpointError: the checkpoint lacks a tensor, has another one, or has one of another size.
    """
    parameters = {name: parameter.requires_grad for name, parameter in network.named_parameters()}
    trained = {name: tensor for name, tensor in network.state_dict().items() if parameters.get(name, with_buffers)}
    stored = {
        name.removeprefix(prefix): tensor for name, tensor in load_file(checkpoint).items() if name.startswith(prefix)
    }
    if fault := misfit(stored, trained, trained.keys()):
        message = f"{checkpoint} does not fit the method and its settings: {fault}"
        raise CheckpointError(message, code="other-parameters", place=checkpoint)
    return stored
