"""Stand-ins of published data: what they hold, and that what reads the published ones reads them."""

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import pytest
import requests
from PIL import Image

from benchmarks.stand_ins import project, shortened
from benchmarks.stand_ins.measuring import bytes_below, taken
from benchmarks.stand_ins.mirror import mirrored
from benchmarks.stand_ins.packing import pack
from benchmarks.stand_ins.pictures import Pictures
from benchmarks.stand_ins.project import PROFILE, Scope
from benchmarks.stand_ins.sharing import dealt, kept
from recompose.data.archives import extract
from recompose.errors import ArgumentError
from recompose.params import Params, load_params
from recompose.tracks import FORMS
from tests.conftest import PATIENCE
from tests.errors import raises

SCOPE = Scope(
    {"czsl": ["mit-states"], "gzsl": ["cub"], "vlc": ["coco-100k"]},
    suites=["coco"],
    methods=["csp", "troika", "crest", "fsc-clip"],
    threads=2,
    gpu=False,
    clip="ViT-S-32",
    classifier=None,
)
SHARE = 0.02
MEGA = 2**20


# what they are made of


def test_a_share_keeps_every_label_of_every_group() -> None:
    groups = ["train"] * 10 + ["test"] * 3
    labels = ["a"] * 8 + ["b", "c"] + ["a", "b", "c"]
    places = kept(groups, labels, 0.5)
    assert places == sorted(set(places))
    assert Counter(groups[place] for place in places) == {"train": 5, "test": 3}
    assert {(groups[place], labels[place]) for place in places} == set(zip(groups, labels, strict=True))


def test_the_whole_is_kept_whole() -> None:
    assert kept("aab", "xyx", 1.0) == [0, 1, 2]


def test_a_group_keeps_more_of_each_label_where_it_has_to() -> None:
    groups, labels = "a" * 9 + "b" * 3, "vvvvvvxxy" + "xyy"
    places = kept(groups, labels, 0.1, {"a": 2})
    assert Counter(labels[place] for place in places if groups[place] == "a") == {"v": 2, "x": 2, "y": 1}
    assert Counter(labels[place] for place in places if groups[place] == "b") == {"x": 1, "y": 1}


def test_dealing_takes_turns_and_leaves_one() -> None:
    items = {"x": ["1", "2", "3"], "y": ["4", "5"], "z": ["6"]}
    assert dealt(items, ["x", "y", "z"], 3) == [("x", "3"), ("y", "5"), ("x", "2")]
    assert items == {"x": ["1"], "y": ["4"], "z": ["6"]}
    with raises(ArgumentError, place="count"):
        dealt(items, ["x"], 1)


def test_pictures_are_jpegs_that_differ_by_their_names() -> None:
    pictures = Pictures(136, 102)
    files = {name: pictures.named(name) for name in ("a.jpg", "b.jpg", "c/ö.jpg")}
    assert len(set(files.values())) == 3
    for name, content in files.items():
        with Image.open(io.BytesIO(content)) as image:
            image.load()
            assert (image.size, image.mode, image.info["comment"].decode()) == ((136, 102), "RGB", name)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tgz"])
def test_archives_are_the_same_bytes_each_time_and_unpack(tmp_path: Path, name: str) -> None:
    members = [("x/1.jpg", b"one"), ("x/y/2.txt", b"two" * 1000)]
    for folder in ("first", "second"):
        pack(tmp_path / folder / name, members)
    first, second = (tmp_path / folder / name for folder in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    extract(first, tmp_path / "unpacked")
    assert {place: (tmp_path / "unpacked" / place).read_bytes() for place, _ in members} == dict(members)


@pytest.mark.slow
def test_drawn_grids_are_read_as_those_that_somebody_has_made(tmp_path: Path) -> None:
    from benchmarks.stand_ins.grids import DRAWN, write_grids
    from recompose.backbones.grids import from_hdf5, read_grids

    (tmp_path / "scratch").mkdir()
    write_grids(tmp_path / "made.hdf5", DRAWN + 4, shape=(8, 3, 2))
    from_hdf5(tmp_path / "made.hdf5", tmp_path, images=DRAWN + 4)
    grids = read_grids(tmp_path)
    assert grids.shape == (DRAWN + 4, 6, 8)
    assert len({grid.tobytes() for grid in grids}) == len(grids)


@pytest.mark.slow
def test_the_mirror_gives_files(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"content")
    with mirrored(tmp_path) as address:
        assert address.startswith("http://127.0.0.1:")
        assert requests.get(f"{address}/a.zip", timeout=PATIENCE).content == b"content"
        assert requests.get(f"{address}/b.zip", timeout=PATIENCE).status_code == 404


@pytest.mark.slow
def test_memory_is_that_of_a_command_and_of_what_it_starts(tmp_path: Path) -> None:
    takes = f"b = bytearray({200 * MEGA}); b[::4096] = b'x' * len(b[::4096]); import time; time.sleep(1)"
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {takes!r}])"
    spent = taken([sys.executable, "-c", starts], tmp_path, {}, tmp_path / "log")
    assert spent.code == 0 and spent.seconds > 1
    assert 200 * MEGA < spent.peak < 300 * MEGA
    assert taken([sys.executable, "-c", "raise SystemExit(3)"], tmp_path, {}, tmp_path / "log").code == 3


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv of util-linux is not installed")
def test_a_command_ends_with_the_process_that_asks_for_it(tmp_path: Path, how: signal.Signals) -> None:
    child = tmp_path / "child"
    says = f"import os, pathlib, time; pathlib.Path({str(child)!r}).write_text(str(os.getpid())); time.sleep(1e5)"
    command = f"[sys.executable, '-c', {says!r}], Path({str(tmp_path)!r}), {{}}, Path({str(tmp_path / 'log')!r})"
    # where the tests run in a shell's background, SIGINT is ignored by all that they start
    heard = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    imported = "import signal, sys; from pathlib import Path; from benchmarks.stand_ins.measuring import taken"
    asks = f"{imported}; {heard}; taken({command})"
    asking = subprocess.Popen([sys.executable, "-c", asks], cwd=project.ROOT, stderr=subprocess.DEVNULL)
    _wait_for(lambda: child.exists() and child.read_text())
    asking.send_signal(how)
    asking.wait(timeout=PATIENCE)
    _wait_for(lambda: not _is_alive(int(child.read_text())))


def _wait_for(condition: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)


def _is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked for its status does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_bytes_of_linked_files_count_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    (tmp_path / "c").symlink_to(tmp_path / "a")
    assert bytes_below(tmp_path) == 5


# the profile


@pytest.fixture(scope="module")
def params(tmp_path_factory: pytest.TempPathFactory) -> Params:
    folder, document = tmp_path_factory.mktemp("project"), project.read_params()
    sections = project.backbones_of(document, SCOPE)
    for name, section in sections.items():
        clip = "activation" in section
        file = project.weights_file(section["architecture"]) if clip else f"{name}-01234567.pth"
        section["weights"] = {**section["weights"], "file": file}
    project.write_params(folder, project.profile(document, SCOPE, sections, "http://127.0.0.1:1"))
    return load_params(folder / "params.yaml", FORMS)


@pytest.mark.slow
def test_the_profile_is_the_papers_with_one_seed_on_what_is_asked_for(params: Params) -> None:
    czsl, gzsl, vlc = (params.chosen.tracks[name] for name in ("czsl", "gzsl", "vlc"))
    assert params.profile == PROFILE
    assert (czsl.datasets, czsl.methods, czsl.seeds) == (["mit-states"], ["csp", "troika"], [0])
    assert (gzsl.datasets, gzsl.methods, gzsl.grids.size) == (["cub"], ["crest"], 448)
    assert (vlc.datasets, vlc.suites, vlc.methods) == (["coco-100k"], ["coco"], ["fsc-clip"])
    assert (params.chosen.trainer.precision, params.chosen.trainer.accelerator) == ("32-true", "cpu")


@pytest.mark.slow
def test_every_method_trains_for_one_epoch_with_the_papers_settings(params: Params) -> None:
    published = load_params(project.ROOT / "params.yaml", FORMS, "paper")
    for track, method, dataset in (
        ("czsl", "troika", "mit-states"),
        ("czsl", "csp", "mit-states"),
        ("gzsl", "crest", "cub"),
        ("vlc", "fsc-clip", "coco-100k"),
    ):
        settings, papers = (each.tracks[track].settings(method, dataset).document() for each in (params, published))
        assert settings["training"]["epochs"] == 1
        changed = {"epochs": 1} | ({"precision": "32-true"} if track == "vlc" else {})
        assert settings == {**papers, "training": papers["training"] | changed}


def test_everything_comes_from_the_mirror(params: Params) -> None:
    czsl, gzsl, vlc = (params.tracks[name] for name in ("czsl", "gzsl", "vlc"))
    corpus = vlc.datasets["coco-100k"]
    downloaded = [
        *czsl.datasets["mit-states"].archives,
        *gzsl.datasets["cub"].archives,
        gzsl.datasets["cub"].word_vectors,
        *corpus.archives,
        corpus.model,
        corpus.lexicon,
        czsl.feasibility.glove,
        *(params.backbones[name].weights for name in ("clip-vit-l-14", "clip-rn50", "resnet-101", "clip-vit-b-32")),
    ]
    assert all(archive.urls == [f"http://127.0.0.1:1/{archive.file}"] for archive in downloaded)
    assert {params.backbones[name].architecture for name in ("clip-vit-l-14", "clip-vit-b-32")} == {"ViT-S-32"}
    assert params.backbones["resnet-101"].architecture == "resnet101"


# what reads the published data reads them

REAL = os.environ.get("RECOMPOSE_REAL_DATA", "")
needs_real = pytest.mark.skipif(not REAL, reason="RECOMPOSE_REAL_DATA names no folder of real annotation files")


@pytest.fixture
def published() -> Iterator[pytest.MonkeyPatch]:
    """Counts are those of the published data again, afterwards."""
    from recompose.tracks.czsl.data import cgqa, mit_states, ut_zappos
    from recompose.tracks.gzsl.data import awa2, cub, sun
    from recompose.tracks.vlc.data import counts

    with pytest.MonkeyPatch.context() as patch:
        for module in (mit_states, ut_zappos, cgqa):
            patch.setattr(module, "STATISTICS", module.STATISTICS)
        for module in (awa2, cub, sun):
            patch.setattr(module, "COUNTS", module.COUNTS)
        patch.setattr(counts, "ITEMS", counts.ITEMS)
        yield patch


def arranged(module: ModuleType, archives: list[Path], folder: Path) -> Path:
    """What is published, in the form that is read."""
    for number, archive in enumerate(archives):
        extract(archive, folder / "unpacked" / str(number))
    root = folder / "root"
    root.mkdir()
    module.arrange(folder / "unpacked", root)
    return root


@needs_real
@pytest.mark.slow
def test_pairs_are_read_and_every_pair_of_a_split_is_shown(tmp_path: Path, published: pytest.MonkeyPatch) -> None:
    from benchmarks.stand_ins import pairs
    from recompose.tracks.czsl.data import cgqa, mit_states, ut_zappos
    from recompose.tracks.czsl.data.glove import ARCHIVE, read_glove

    whole = {module: module.STATISTICS for module in (mit_states, ut_zappos, cgqa)}
    shortened.recount(pairs.write(Path(REAL), SHARE, tmp_path))
    for module, names in {
        mit_states: ["release_dataset.zip", "compositional_split_natural.tar.gz"],
        ut_zappos: ["ut-zap50k-images.zip", "compositional_split_natural.tar.gz"],
        cgqa: ["cgqa.zip"],
    }.items():
        data = module.read(arranged(module, [tmp_path / name for name in names], tmp_path / module.__name__))
        printed, found = asdict(whole[module]), asdict(data.statistics)
        assert {name: count for name, count in found.items() if not name.endswith("images")} == {
            name: count for name, count in printed.items() if not name.endswith("images")
        }
        for split, listed in data.pairs_of.items():
            shown = Counter((sample.state, sample.object) for sample in data.samples if sample.split == split)
            assert shown.keys() == set(listed)
            assert shown.total() == max(round(SHARE * printed[f"{split}_images"]), len(listed))
        assert read_glove(tmp_path / ARCHIVE, [*data.states, *data.objects]).shape[1] == 300


@needs_real
def test_cgqa_whole_has_the_counts_that_papers_print() -> None:
    from benchmarks.stand_ins.pairs import natural_cgqa
    from recompose.tracks.czsl.data import cgqa
    from recompose.tracks.czsl.data.pairs import PairData, Sample

    listing = natural_cgqa(Path(REAL))
    samples = [Sample(image.name, *image.pair, image.split) for image in listing.images]
    assert PairData(listing.pairs, samples).statistics == cgqa.STATISTICS
    assert len({sample.path for sample in samples}) == 39_298


@needs_real
@pytest.mark.slow
def test_classes_are_read_and_every_class_of_a_split_is_shown(tmp_path: Path, published: pytest.MonkeyPatch) -> None:
    from benchmarks.stand_ins import classes
    from recompose.tracks.gzsl.data import awa2, cub, sun

    whole = {module: asdict(module.COUNTS) for module in (cub, sun, awa2)}
    shortened.recount(classes.write(Path(REAL), SHARE, tmp_path))
    for module, names in {
        cub: ["CUB_200_2011.tgz"],
        sun: ["SUNAttributeDB_Images.tar.gz", "SUNAttributeDB.tar.gz"],
        awa2: ["AwA2-data.zip"],
    }.items():
        name, folder = module.__name__.rpartition(".")[2], tmp_path / module.__name__
        root = arranged(module, [tmp_path / archive for archive in ("xlsa17.zip", *names)], folder)
        (root / "words.pkl").symlink_to(tmp_path / f"{name.upper()}_attribute.pkl")
        data = module.read(root)
        seen = int(data.seen.sum())
        assert (seen, len(data.classes)) == (
            whole[module]["seen_classes"],
            whole[module]["seen_classes"] + whole[module]["unseen_classes"],
        )
        for split, shown in (("trainval", seen), ("test_seen", seen), ("test_unseen", len(data.classes) - seen)):
            rows, least = data.rows(split), 2 if split == "trainval" else 1
            images = Counter(data.labels[rows])
            assert len(images) == shown and min(images.values()) >= least
            assert len(rows) == max(round(SHARE * whole[module][f"{split}_images"]), least * shown)


@needs_real
@pytest.mark.slow
def test_captions_and_suites_are_read(tmp_path: Path, published: pytest.MonkeyPatch) -> None:
    from benchmarks.stand_ins import captions
    from recompose.tracks.vlc.data import analysis, negclip_list, wordnet
    from recompose.tracks.vlc.data.counts import check_counts
    from recompose.tracks.vlc.data.suites_on_disk import read_suite

    shortened.recount(captions.write(Path(REAL), 0.005, tmp_path))
    for number, name in enumerate(("train2014.zip", "val2014.zip")):
        extract(tmp_path / name, tmp_path / "unpacked" / str(number))
    (tmp_path / "unpacked" / negclip_list.LIST).write_bytes((tmp_path / negclip_list.LIST).read_bytes())
    (tmp_path / "root").mkdir()
    negclip_list.arrange(tmp_path / "unpacked", tmp_path / "root")
    corpus = negclip_list.read(tmp_path / "root")
    assert len(corpus.captions) == round(0.005 * captions.ROWS)
    analysis.unpack_model(tmp_path / captions.WHEEL, tmp_path / "model")
    wordnet.unpack(tmp_path / captions.LEXICON, tmp_path / "lexicon")
    docs = list(analysis.annotate(["a man sitting on a red bus", "two dogs"], tmp_path / "model"))
    assert [token.pos_ for token in docs[0]] == ["DET", "NOUN", "VERB", "ADP", "DET", "ADJ", "NOUN"]
    for name in ("coco", "sugarcrepe", "valse", "comvg"):
        suite = read_suite(name, tmp_path / captions.SUITES)
        check_counts(suite)
        assert all((tmp_path / captions.SUITES / picture.path).is_file() for picture in suite.images)
