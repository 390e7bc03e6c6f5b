"""Addresses of published weights."""

from collections.abc import Iterable
from pathlib import Path

from recompose.errors import DataError
from recompose.params.mistakes import nearest


def weights_urls(architecture: str, file: str, urls: Iterable[str], tag: str | None) -> list[str]:
    """Return the addresses of a CLIP's weights: those in params.yaml, then those that open_clip has for the tag.

    Args:
        architecture: of open_clip.
        file: the name of the file, whose suffix the addresses have.
        urls: those in params.yaml.
        tag: of open_clip; None: none.

    Raises:
        DataError: open_clip has no such tag, or no such file of it.
    """
    if tag is None:
        return [*urls]
    import open_clip
    from open_clip.constants import HF_SAFE_WEIGHTS_NAME

    config = open_clip.get_pretrained_cfg(architecture, tag)
    if not config:
        tags = open_clip.list_pretrained_tags_by_model(architecture)
        message = f"'{tag}' is no tag of open_clip for {architecture}{nearest(tag, tags)}; its tags: {', '.join(tags)}"
        raise DataError(message, code="unknown-tag", place=tag)
    repository, _, name = config["hf_hub"].rpartition("/")
    hub = f"https://huggingface.co/{repository}/resolve/main/{name or HF_SAFE_WEIGHTS_NAME}"
    sources = [url for url in (config["url"], hub if repository else "") if url]
    published = [url for url in sources if Path(url).suffix == Path(file).suffix]
    if not published:
        message = f"open_clip has no file like {file} for '{tag}' of {architecture}, but {' and '.join(sources)}"
        raise DataError(f"{message}: name one with that suffix in params.yaml", code="unknown-file", place=file)
    return [*urls, *published]
