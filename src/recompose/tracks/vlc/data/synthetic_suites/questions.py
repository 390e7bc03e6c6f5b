"""What is asked of pictures, and in which words."""

from collections.abc import Iterable, Sequence
from random import Random

from recompose.synthetic.sentences import OPENINGS, Wording, caption
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import Change, false_of
from recompose.tracks.vlc.data.synthetic_suites.photos import Photo, mentioned

PHOTO = Wording(opening="photo")


def opened(rng: Random) -> Wording:
    """A wording that is the same for a true and a false caption."""
    return Wording(opening=rng.choice(("", *OPENINGS)))


def related(photos: Iterable[Photo], relations: Iterable[str]) -> list[Photo]:
    """The pictures of two things in such a relation, or of one at such a place."""
    wanted = set(relations)
    return [photo for photo in photos if photo.scene.relation in wanted]


def cycled(photos: Sequence[Photo], items: int, rng: Random) -> list[Photo]:
    """So many pictures in random order, each as often as any other, or once more."""
    order = rng.sample(list(photos), len(photos))
    return [order[number % len(order)] for number in range(items)]


def true_and_false(photo: Photo, change: Change, rng: Random, wording: Wording | None = None) -> tuple[str, str]:
    """A true and a false caption of a picture."""
    wording, said = wording or opened(rng), mentioned(photo.scene, rng)
    return caption(said, wording), caption(false_of(photo.scene, said, change, rng), wording)
