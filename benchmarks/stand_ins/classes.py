"""CUB, SUN and AWA2 as they are published: real classes, attributes, splits and names of images, drawn pictures."""

import io
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from scipy.io import savemat

from benchmarks.stand_ins.packing import Members, pack
from benchmarks.stand_ins.pictures import Pictures
from recompose.tracks.gzsl.data.classes import SPLITS
from recompose.tracks.gzsl.data.matlab import read_fields
from tests.tracks.gzsl.data.worlds import cells

FEATURES = 2048  # of an image in the published index, which nobody reads here
_IMAGE_FOLDERS = ("images", "JPEGImages")
_LISTS = ("trainclasses1.txt", "valclasses1.txt", "trainvalclasses.txt", "testclasses.txt")


@dataclass(frozen=True)
class Form:
    """How upstream packs a data set."""

    dataset: str
    archive: str  # of the images
    images: str  # their folder in it
    names: str  # the real file with the names of attributes
    names_archive: str  # and where it is packed
    names_folder: str  # in it
    width: int
    height: int


_CUB, _SUN, _AWA2, _ANIMALS = "CUB_200_2011.tgz", "SUNAttributeDB", "AwA2-data.zip", "Animals_with_Attributes2"
FORMS = {
    "CUB": Form("cub", _CUB, "CUB_200_2011/images", "attributes.txt", _CUB, "", 500, 375),
    "SUN": Form("sun", f"{_SUN}_Images.tar.gz", "images", "attributes.mat", f"{_SUN}.tar.gz", _SUN, 640, 480),
    "AWA2": Form("awa2", _AWA2, f"{_ANIMALS}/JPEGImages", "predicates.txt", _AWA2, _ANIMALS, 800, 600),
}


@dataclass(frozen=True)
class Annotated:
    """The images of a data set, with what ``att_splits.mat`` says of classes."""

    files: np.ndarray  # [images] str, as the index has them
    labels: np.ndarray  # [images], from 0
    splits: np.ndarray  # [images] str
    fields: dict[str, np.ndarray]  # att, original_att, allclasses_names

    @classmethod
    def read(cls, folder: Path) -> "Annotated":
        """Return the real annotations."""
        with np.load(folder / "index.npz", allow_pickle=False) as arrays:
            index = dict(arrays)
        splits = np.full(len(index["labels"]), "", dtype="U16")
        for split in SPLITS:
            splits[index[f"{split}_loc"]] = split
        fields = read_fields(folder / "att_splits.mat", ("att", "original_att", "allclasses_names"))
        return cls(index["image_files"], index["labels"], splits, fields)

    def share(self, share: float) -> "Annotated":
        """Return the same with fewer images: every class keeps two in each of its splits, so one can be held out."""
        kept = []
        for split in SPLITS:
            places = np.flatnonzero(self.splits == split)
            for label in np.unique(self.labels[places]):
                shown = places[self.labels[places] == label]
                kept += shown[: max(round(share * len(shown)), 2)].tolist()
        rows = sorted(kept)
        return Annotated(self.files[rows], self.labels[rows], self.splits[rows], self.fields)

    def counts(self, validation: Iterable[str]) -> dict[str, int]:
        """Return the numbers of images, under the names in params.yaml.

        Args:
            validation: the names of the classes of validation.
        """
        places = {str(name): place for place, name in enumerate(self.fields["allclasses_names"].ravel())}
        chooses = np.isin(self.labels, [places[name] for name in validation]) & (self.splits == "trainval")
        found = {f"{split}_images": int((self.splits == split).sum()) for split in SPLITS}
        training = found["trainval_images"] - int(chooses.sum())
        images = len(self.labels)
        return {"images": images, **found, "training_images": training, "validation_images": int(chooses.sum())}

    def index_file(self) -> bytes:
        """Return ``res101.mat``, with features that are all zero."""
        features = np.zeros((FEATURES, len(self.labels)), dtype=np.float32)
        labels = (self.labels[:, None] + 1).astype(np.uint16)
        return _mat({"features": features, "labels": labels, "image_files": cells(map(str, self.files))})

    def splits_file(self) -> bytes:
        """Return ``att_splits.mat``."""
        places = {f"{split}_loc": np.flatnonzero(self.splits == split)[:, None] + 1 for split in SPLITS}
        names = cells(map(str, self.fields["allclasses_names"].ravel()))
        return _mat({**self.fields, "allclasses_names": names, **places})

    def places(self) -> list[str]:
        """Return the places of images below their folder."""
        return [_below(str(file)) for file in self.files]


def _below(file: str) -> str:
    parts = PurePosixPath(file).parts
    start = max(place for place, part in enumerate(parts[:-1]) if part in _IMAGE_FOLDERS)
    return "/".join(parts[start + 1 :])


def _mat(fields: dict[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    savemat(file, fields)
    return b"MATLAB 5.0 MAT-file, drawn".ljust(116) + file.getvalue()[116:]  # where scipy writes the time


def write(real: Path, share: float, archives: Path) -> dict[str, dict[str, int]]:
    """Write all archives of the track where they are not there yet; return the counts of images of each data set."""
    folder = real / "gzsl"
    data = {name: Annotated.read(folder / name).share(share) for name in FORMS}
    pack(archives / "xlsa17.zip", _splits(folder, data))
    for name, form in FORMS.items():
        names = (str(PurePosixPath(form.names_folder, form.names)), (folder / name / form.names).read_bytes())
        together = form.names_archive == form.archive
        pack(archives / form.archive, _images(data[name], form, [names] if together else []))
        if not together:
            pack(archives / form.names_archive, [names])
        shutil.copyfile(folder / name / f"{name}_attribute.pkl", archives / f"{name}_attribute.pkl")
    validation = {name: (folder / name / "valclasses1.txt").read_text(encoding="utf-8").split() for name in FORMS}
    return {form.dataset: data[name].counts(validation[name]) for name, form in FORMS.items()}


def _splits(folder: Path, data: dict[str, Annotated]) -> Members:
    for name, each in data.items():
        place = f"xlsa17/data/{name}"
        yield f"{place}/res101.mat", each.index_file()
        yield f"{place}/att_splits.mat", each.splits_file()
        for file in _LISTS:
            yield f"{place}/{file}", (folder / name / file).read_bytes()


def _images(data: Annotated, form: Form, others: list[tuple[str, bytes]]) -> Members:
    yield from others
    pictures = Pictures(form.width, form.height)
    for place in data.places():
        yield f"{form.images}/{place}", pictures.named(place)
