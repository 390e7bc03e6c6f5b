"""Addresses of published weights."""

from pathlib import Path

from recompose.errors import DataError
from recompose.params.mistakes import nearest
from recompose.params.sections import Classifier, Released


def weights_urls(section: Released | Classifier) -> list[str]:
    """Return the addresses of a backbone's weights: those in params.yaml, then those that open_clip has for the tag.

    Raises:
        DataError: open_clip has no such tag, or no such file of it.
    """
    if isinstance(section, Classifier) or section.weights.tag is None:
        return section.weights.urls
    import open_clip
    from open_clip.constants import HF_SAFE_WEIGHTS_NAME

    architecture, tag, file = section.architecture, section.weights.tag, section.weights.file
    config = open_clip.get_pretrained_cfg(architecture, tag)
    if not config:
        tags = open_clip.list_pretrained_tags_by_model(architecture)
        message = f"'{tag}' is no tag of open_clip for {architecture}{nearest(tag, tags)}; its tags: {', '.join(tags)}"
        raise DataError(message, code="unknown-tag", place=tag)
    repository, _, name = config["hf_hub"].rpartition("/")
    hub = f"https://huggingface.co/{repository}/resolve/main/{name or HF_SAFE_WEIGHTS_NAME}"
    sources = [url for url in (config["url"], hub if repository else "") if url]
    urls = [url for url in sources if Path(url).suffix == Path(file).suffix]
    if not urls:
        message = f"open_clip has no file like {file} for '{tag}' of {architecture}, but {' and '.join(sources)}"
        raise DataError(f"{message}: name one with that suffix in params.yaml", code="unknown-file", place=file)
    return [*section.weights.urls, *urls]
