"""Models that a function of the user's own loads: ``--model my_module:load`` of ``recompose evaluate``.

The function returns an object or a mapping with four parts:

- ``encode_image``: embeddings [images, E] of preprocessed pixels [images, ...], normalised or not
- ``encode_text``: embeddings [texts, E] of token ids [texts, context]
- ``preprocess``: the pixels of an image of PIL in RGB, a tensor
- ``tokenize``: the token ids [texts, context] of a list of texts, a tensor of integers

Two more are for models that were trained with a sigmoid, as SigLIP: ``logit_scale``, the factor on cosines itself, and
``logit_bias``.
"""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from recompose.errors import DataError
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.sigmoid import Sigmoid

PARTS = ("encode_image", "encode_text", "preprocess", "tokenize")
OTHER_PROVIDERS = ("hf-hub", "local-dir")  # before the colon of open_clip's own names
SIDE = 64  # pixels of the image, and
TEXT = "a"  # the text that a model is tried with


def is_own(model: str) -> bool:
    """Return whether a model's name is that of a function, ``module:function``.

    >>> is_own("my_module:load"), is_own("ViT-B-32"), is_own("hf-hub:org/model")
    (True, False, False)
    """
    module, colon, _ = model.partition(":")
    return bool(colon) and module not in OTHER_PROVIDERS


class OwnModel(nn.Module):
    """A model of the user's own, with the towers that ``encoding.encode`` expects.

    The modules that its functions use are its submodules, which move to a device with it. They do not identify it: what
    its functions compute may follow from any file.
    """

    def __init__(self, name: str, loaded: object) -> None:
        super().__init__()
        self._name = name
        self._encode_image, self._encode_text, preprocess, tokenize = (_part(name, loaded, part) for part in PARTS)
        self.preprocess: Callable[[Image.Image], Tensor] = preprocess
        self._tokenize = tokenize
        self.sigmoid = _sigmoid(name, loaded)
        self.towers = nn.ModuleList(_modules(loaded))

    def encode_image(self, pixels: Tensor) -> Tensor:
        """Return image embeddings [images, E] of pixels [images, ...]."""
        return _checked(self._encode_image(pixels), f"{self._name}: encode_image", len(pixels))

    def encode_text(self, ids: Tensor) -> Tensor:
        """Return text embeddings [texts, E] of token ids [texts, context]."""
        return _checked(self._encode_text(ids), f"{self._name}: encode_text", len(ids))

    def tokenizer(self, texts: list[str]) -> Tensor:
        """Return token ids [texts, context].

        Raises:
            DataError: the function returns something else.
        """
        ids = self._tokenize(texts)
        place = f"{self._name}: tokenize"
        if not isinstance(ids, Tensor) or ids.ndim != 2 or len(ids) != len(texts) or ids.is_floating_point():
            message = f"{place} returns {_kind(ids)}, not a tensor of integers [{len(texts)} texts, context]"
            raise DataError(message, code="wrong-part", place=place)
        return ids

    @torch.no_grad()
    def check(self, device: torch.device) -> None:
        """Encode one image and one text.

        Raises:
            DataError: a function fails, or returns something else than it should.
        """
        self.to(device).eval()
        place = f"{self._name}: preprocess"
        pixels = _called(place, lambda: self.preprocess(Image.new("RGB", (SIDE, SIDE))))
        if not isinstance(pixels, Tensor):
            raise DataError(f"{place} returns {_kind(pixels)}, not a tensor", code="wrong-part", place=place)
        image = _called(f"{self._name}: encode_image", lambda: self.encode_image(pixels[None].to(device)))
        ids = _called(f"{self._name}: tokenize", lambda: self.tokenizer([TEXT]))
        text = _called(f"{self._name}: encode_text", lambda: self.encode_text(ids.to(device)))
        if image.shape != text.shape:
            message = f"{self._name}: an image has {image.shape[1]} numbers and a text {text.shape[1]}, not as many"
            raise DataError(message, code="wrong-part", place=f"{self._name}: encode_text")


def load_own_model(name: str, weights: str | None) -> OwnModel:
    """Load a model by a function of the user's own, which is called with the weights if there are any.

    Args:
        name: ``module:function``; modules in the current folder are found, too.
        weights: the argument of the function; None: it is called without.

    Raises:
        DataError: there is no such module or function, it fails, or it returns something else.
    """
    module_name, _, function_name = name.partition(":")
    if not module_name or not function_name:
        raise DataError(f"'{name}' is not of the form module:function", code="unknown-model", place=name)
    function = _function(module_name, function_name)
    return OwnModel(name, _called(name, function if weights is None else lambda: function(weights)))


def _called(place: str, call: Callable[[], Any]) -> Any:
    """Return what a function of the user's own returns; whatever it raises is an error of that place."""
    try:
        return call()
    except DataError:
        raise
    except Exception as error:
        message = f"{place} fails with {type(error).__name__}: {one_line(error)}"
        raise DataError(message, code="failing-model", place=place) from error


def _function(module_name: str, function_name: str) -> Callable[..., Any]:
    """Return a function of a module."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_module(module_name)
    except Exception as error:
        message, code = f"{module_name} cannot be imported: {type(error).__name__}: {one_line(error)}", "failing-model"
        if isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}."):
            suggestion = nearest(module_name, [path.stem for path in Path.cwd().glob("*.py")])
            message = f"there is no module '{module_name}' in {here} nor among the installed packages{suggestion}"
            code = "unknown-model"
        raise DataError(message, code=code, place=module_name) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        names = [name for name, value in vars(module).items() if callable(value)]
        place = f"{module.__file__}: {function_name}"
        message = f"{module.__file__} has no function '{function_name}'{nearest(function_name, names)}"
        raise DataError(message, code="unknown-model", place=place)
    result: Callable[..., Any] = function
    return result


def _part(name: str, loaded: object, part: str) -> Callable[..., Any]:
    """Return a function of a model."""
    value = _value(loaded, part)
    if not callable(value):
        fault = "has no" if value is None else f"has {_kind(value)} as"
        message = f"the model of {name} {fault} '{part}': it needs {', '.join(PARTS)}, as functions"
        raise DataError(message, code="missing-part", place=f"{name}: {part}")
    result: Callable[..., Any] = value
    return result


def _value(loaded: object, part: str) -> Any:
    return loaded.get(part) if isinstance(loaded, Mapping) else getattr(loaded, part, None)


def _sigmoid(name: str, loaded: object) -> Sigmoid | None:
    """Return the sigmoid of a model with a bias."""
    scale, bias = (_value(loaded, part) for part in ("logit_scale", "logit_bias"))
    if bias is None:
        return None
    if isinstance(scale, nn.Parameter) or scale is None:  # of models of open_clip and others, it is a logarithm
        message = f"the model of {name} needs 'logit_scale' beside 'logit_bias': the factor itself, as a number"
        raise DataError(message, code="wrong-part", place=f"{name}: logit_scale")
    return Sigmoid(float(scale), float(bias))


def _modules(loaded: object) -> Iterator[nn.Module]:
    """Yield the modules that a model's functions use, each once."""
    values = (
        list(loaded.values()) if isinstance(loaded, Mapping) else [loaded, *getattr(loaded, "__dict__", {}).values()]
    )
    yield from {id(module): module for value in values for module in _used(value)}.values()


def _used(value: object) -> Iterator[nn.Module]:
    """Yield the modules in a value: itself, the object of a method, what a function refers to, and their attributes."""
    candidates = [value, getattr(value, "__self__", None)]
    if inspect.isfunction(value):
        variables = inspect.getclosurevars(value)
        candidates += [*variables.nonlocals.values(), *variables.globals.values()]
    for candidate in candidates:
        parts = [candidate] if isinstance(candidate, nn.Module) else getattr(candidate, "__dict__", {}).values()
        yield from (part for part in parts if isinstance(part, nn.Module))


def _checked(embeddings: object, place: str, rows: int) -> Tensor:
    """Return embeddings, after a check of their shape."""
    if not isinstance(embeddings, Tensor) or embeddings.ndim != 2 or len(embeddings) != rows:
        message = f"{place} returns {_kind(embeddings)}, not a tensor [{rows}, E]"
        raise DataError(message, code="wrong-part", place=place)
    return embeddings


def _kind(value: object) -> str:
    return f"a tensor {list(value.shape)} of {value.dtype}" if isinstance(value, Tensor) else type(value).__name__


def one_line(error: Exception) -> str:
    """Return what an error says, or its class, on one line."""
    return " ".join((str(error) or repr(error)).split())
