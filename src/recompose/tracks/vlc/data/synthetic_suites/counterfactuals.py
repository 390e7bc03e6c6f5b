"""What is true or false of a scene.

A scene has counterfactuals, which differ from it in one thing: an object, an attribute, the relation, a number, or who
stands where. Drawn they are another picture, said they are a false caption.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias

from recompose.synthetic.objects import COLOURS
from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import (
    ACTIONS,
    CONVERSES,
    DENIABLE,
    NAMES,
    NONE,
    NUMBERS,
    PLACES,
    QUALITIES,
    SIZES,
    Entity,
    Scene,
    is_true_of,
)

TRIES = 200
ALIKE = {adjective: tuple(kind) for kind in QUALITIES.values() for adjective in kind}  # what may stand for an attribute

Change: TypeAlias = Callable[[Scene, Random], Scene]


def _changed(scene: Scene, which: int, thing: Entity) -> Scene:
    return replace(scene, second=thing) if which else replace(scene, first=thing)


def _chosen(scene: Scene, rng: Random) -> tuple[int, Entity]:
    which = rng.randrange(len(scene.entities))
    return which, scene.entities[which]


def _renamed(scene: Scene, thing: Entity, rng: Random) -> Entity:
    taken = [there.name for there in scene.entities]
    return replace(thing, name=rng.choice([name for name in NAMES if name not in taken]))


def other_object(scene: Scene, rng: Random) -> Scene:
    """One of the things is another object."""
    which, thing = _chosen(scene, rng)
    return _changed(scene, which, _renamed(scene, thing, rng))


def other_subject(scene: Scene, rng: Random) -> Scene:
    """The first thing is another object."""
    return _changed(scene, 0, _renamed(scene, scene.first, rng))


def other_target(scene: Scene, rng: Random) -> Scene:
    """The second thing is another object."""
    return _changed(scene, 1, _renamed(scene, _both(scene)[1], rng))


def other_state(scene: Scene, rng: Random) -> Scene:
    """A thing has another attribute of the same kind; things that have none stay as they are."""
    which, thing = _chosen(scene, rng)
    if not thing.states:
        return scene
    state = rng.choice(thing.states)
    other = rng.choice([like for like in ALIKE[state] if like != state])
    return _changed(scene, which, replace(thing, states=tuple(other if one == state else one for one in thing.states)))


def other_relation(scene: Scene, rng: Random) -> Scene:
    """Another action, another place, or the reverse of how two things stand: that they stand side by side, and not one
    above the other, is seen without knowing who is who.
    """
    if scene.relation in RELATIONS:
        return replace(scene, relation=CONVERSES[scene.relation])
    alike = ACTIONS if scene.relation in ACTIONS else tuple(PLACES)
    return replace(scene, relation=rng.choice([other for other in alike if other != scene.relation]))


def other_number(scene: Scene, rng: Random) -> Scene:
    """Another number of the first thing."""
    count = rng.choice([number for number in (1, *NUMBERS) if number != scene.first.count])
    return replace(scene, first=replace(scene.first, count=count))


def other_size(scene: Scene, rng: Random) -> Scene:
    """Big things are small, and small ones big."""
    sizes = dict(zip(SIZES, reversed(SIZES), strict=True))
    which, thing = _chosen(scene, rng)
    return _changed(scene, which, replace(thing, size=sizes.get(thing.size, "")))


def _both(scene: Scene) -> tuple[Entity, Entity]:
    if scene.second is None:
        raise ValueError(f"there are no two things in {scene}")
    return scene.first, scene.second


def swapped_things(scene: Scene, rng: Random) -> Scene:
    """The two things stand for each other, with their attributes."""
    first, second = _both(scene)
    return Scene(second, first, scene.relation)


def swapped_states(scene: Scene, rng: Random) -> Scene:
    """The two things have each other's attributes."""
    first, second = _both(scene)
    return Scene(replace(first, states=second.states), replace(second, states=first.states), scene.relation)


def swapped_names(scene: Scene, rng: Random) -> Scene:
    """The two things are each other, without their attributes."""
    first, second = _both(scene)
    return Scene(replace(first, name=second.name), replace(second, name=first.name), scene.relation)


def added_object(scene: Scene, rng: Random) -> Scene:
    """There is another thing, too."""
    name = rng.choice([name for name in DENIABLE if name != scene.first.name])
    return replace(scene, second=Entity(name), relation="")


def added_state(scene: Scene, rng: Random) -> Scene:
    """A thing has an attribute that it was not said to have."""
    which, thing = _chosen(scene, rng)
    if len(thing.states) > 1:
        return scene
    kinds = [kind for kind in QUALITIES.values() if ("red" in kind) != bool(thing.colour) or not thing.states]
    state = rng.choice(list(rng.choice(kinds)))
    states = (*thing.states, state) if state in COLOURS else (state, *thing.states)
    return _changed(scene, which, replace(thing, states=states))


def denied(scene: Scene, rng: Random) -> Scene:
    """One of the things is said to be missing."""
    things = list(scene.entities)
    which = rng.randrange(len(things))
    missing = replace(things.pop(which), count=NONE)
    return Scene(things[0], missing) if things else Scene(missing)


def false_of(shown: Scene, said: Scene, change: Change, rng: Random) -> Scene:
    """What is said with a change that makes it false.

    Raises:
        ValueError: no change of this kind does.
    """
    for _ in range(TRIES):
        other = change(said, rng)
        if not is_true_of(other, shown):
            return other
    raise ValueError(f"{change.__name__} makes nothing false of {shown} that says {said}")


def apart(scene: Scene, change: Change, rng: Random) -> Scene:
    """A counterfactual of a scene: what is true of one is false of the other.

    Raises:
        ValueError: no change of this kind makes one.
    """
    for _ in range(TRIES):
        other = change(scene, rng)
        if not is_true_of(other, scene) and not is_true_of(scene, other):
            return other
    raise ValueError(f"{change.__name__} makes no counterfactual of {scene}")
