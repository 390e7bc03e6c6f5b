"""Processes that tests start and end, and what these leave."""

from collections.abc import Iterator
from pathlib import Path

from tests.conftest import Project


def processes_of(session: int) -> Iterator[tuple[int, str]]:
    """The processes of a session with their command lines."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_text().replace("\0", " ")
        except OSError:  # it has ended
            continue
        if int(after_name[3]) == session and after_name[0] != "Z":
            yield int(folder.name), command


def parent_of(pid: int) -> int | None:
    """The process that started one; None where that has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def stored(project: Project) -> dict[str, bytes]:
    """The bytes of every number and weight that is stored."""
    names = ("scores.safetensors", "checkpoint.safetensors", "weights.safetensors", "embeddings.npy")
    paths = [path for path in project.root.glob("results/*/*/*") if path.name in names]
    return {str(path.relative_to(project.root)): path.read_bytes() for path in paths}
