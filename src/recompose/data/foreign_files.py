"""What a file is that its reader cannot read: something else under its name, or why the reader stopped."""

import re
from pathlib import Path

HEAD = 1024  # bytes of a file by which it is known
LONGEST = 200  # characters of a reason
_KINDS = (  # the beginning of a file -> what it is, and what brings the file that is meant
    (
        rb"version https://git-lfs\.github\.com/spec/",
        "a Git LFS pointer: `git lfs pull` in its repository gets the file",
    ),
    (rb"(outs|deps|md5):[\s\S]*\bmd5: ", "a DVC pointer: `dvc pull` in its repository gets the file"),
    (rb"\s*(<!--[\s\S]*?-->\s*)*<(!doctype html|html|head|body)\b", "an HTML page: download the file that it links to"),
    (rb"\s*<(\?xml|error)\b", "an XML document, as servers send in place of a file: download the file again"),
    (rb"\x1f\x8b|BZh\d|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!", "a compressed file: unpack it first"),
)
_GLOBAL = re.compile(r"GLOBAL (\S+)")  # in torch's message, the class or function that its safe reader does not admit
_WITHIN = re.compile(r"WeightsUnpickler error:\s*(.+)")  # what torch says before its advice


def reason_of(path: Path, error: Exception) -> str:
    """Return in one line why a file cannot be read: what it is instead, or else what its reader says.

    Args:
        path: the file.
        error: of the library that reads it. Advice of torch to read a file without its checks is left out.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "model.pt")
        ...     _ = path.write_text("<!DOCTYPE html><title>Sign in</title>")
        ...     reason_of(path, ValueError("bad magic number"))
        'it is an HTML page: download the file that it links to'
    """
    if kind := _kind_of(path):
        return f"it is {kind}"
    text = str(error) or repr(error)
    if unsafe := _GLOBAL.search(text):
        return f"it holds objects of {unsafe[1]}, and pickles of other than plain data run code"
    if within := _WITHIN.search(text):
        text = within[1]
    reason = "its pickle is damaged" if "weights_only" in text else text
    return " ".join(reason.splitlines()[0].split())[:LONGEST]


def _kind_of(path: Path) -> str:
    """Return what a file is by its beginning; empty if that shows nothing."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return ""
    if not head:
        return "empty"
    found = (kind for beginning, kind in _KINDS if re.match(beginning, head, re.IGNORECASE))
    return next(found, _as_text(head))


def _as_text(head: bytes) -> str:
    """Return the beginning of a text; empty for anything else."""
    try:
        text = head[: HEAD - 4].decode("utf-8") if len(head) == HEAD else head.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    line = " ".join(text.split())
    return f"a text that begins with {line[:40]!r}" if line.isprintable() and len(line) > 1 else ""
