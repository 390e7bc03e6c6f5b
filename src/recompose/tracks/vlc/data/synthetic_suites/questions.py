"""Selections of pictures for questions, and their captions."""

from collections.abc import Iterable, Sequence
from random import Random

from recompose.synthetic.sentences import OPENINGS, Wording, caption
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import Change, falsify
from recompose.tracks.vlc.data.synthetic_suites.photos import Photo, partial_statement

PHOTO = Wording(opening="photo")


def random_opening(rng: Random) -> Wording:
    """Return a wording with a random opening, for a true and a false caption."""
    return Wording(opening=rng.choice(("", *OPENINGS)))


def photos_with_relation(photos: Iterable[Photo], relations: Iterable[str]) -> list[Photo]:
    """Return the pictures of two entities with one of these relations, or of one at one of these places."""
    selected = set(relations)
    return [photo for photo in photos if photo.scene.relation in selected]


def cycle_photos(photos: Sequence[Photo], items: int, rng: Random) -> list[Photo]:
    """Return this number of pictures in random order, each as often as any other or once more."""
    order = rng.sample(list(photos), len(photos))
    return [order[number % len(order)] for number in range(items)]


def caption_pair(photo: Photo, change: Change, rng: Random, wording: Wording | None = None) -> tuple[str, str]:
    """Return a true and a false caption of a picture."""
    wording, statement = wording or random_opening(rng), partial_statement(photo.scene, rng)
    return caption(statement, wording), caption(falsify(photo.scene, statement, change, rng), wording)
