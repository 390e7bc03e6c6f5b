"""Where published weights come from: addresses in params.yaml, and tags of open_clip."""

from recompose.backbones.published import weights_urls
from recompose.errors import DataError
from recompose.params.loading import load_params
from recompose.params.sections import Released
from recompose.tracks import FORMS
from tests.conftest import ROOT
from tests.errors import raises

HUB = "https://huggingface.co"


def released(file: str, **source: object) -> Released:
    weights = {"file": file, "sha256": "0" * 64, **source}
    return Released.model_validate({"architecture": "ViT-B-32", "activation": "quick_gelu", "weights": weights})


def test_openai_s_files_have_the_digests_of_their_addresses() -> None:
    sections = load_params(ROOT / "params.yaml", FORMS).backbones.values()
    by_openai = [each for each in sections if isinstance(each, Released) and each.weights.tag == "openai"]
    assert len(by_openai) == 4
    for section in by_openai:
        (url,) = weights_urls(section)
        assert url.split("/")[-2:] == [section.weights.sha256, section.weights.file]


def test_a_file_of_tensors_alone_comes_from_the_hub() -> None:
    name = "open_clip_model.safetensors"
    openai, laion = (weights_urls(released("a.safetensors", tag=tag)) for tag in ("openai", "datacomp-XL-s13B-b90K"))
    assert openai == [f"{HUB}/timm/vit_base_patch32_clip_224.openai/resolve/main/{name}"]
    assert laion == [f"{HUB}/laion/CLIP-ViT-B-32-DataComp.XL-s13B-b90K/resolve/main/{name}"]


def test_addresses_of_one_s_own_come_first() -> None:
    own = "https://example.org/a.pt"
    assert weights_urls(released("a.pt", urls=[own])) == [own]
    first, second = weights_urls(released("a.pt", urls=[own], tag="openai"))
    assert first == own and "openai" in second


def test_a_tag_or_a_file_that_does_not_exist_is_named_with_what_does() -> None:
    with raises(DataError, "unknown-tag", "opnai") as caught:
        weights_urls(released("a.pt", tag="opnai"))
    assert "the nearest is 'openai'" in str(caught.value)
    with raises(DataError, "unknown-file", "a.bin") as caught:
        weights_urls(released("a.bin", tag="openai"))
    assert "ViT-B-32.pt" in str(caught.value) and HUB in str(caught.value)
