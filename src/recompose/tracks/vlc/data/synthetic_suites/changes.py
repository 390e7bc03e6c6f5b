"""Changes of scenes that make them false.

A counterfactual differs from its scene in one aspect: an object, an attribute, the relation, a number, or the
positions. Drawn, it is another picture; worded, it is a false caption.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias

from recompose.errors import ArgumentError
from recompose.synthetic import sentences
from recompose.synthetic.objects import COLOURS
from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import Entity, Scene

TRIES = 200
# attribute -> the attributes of its kind
SAME_KIND = {adjective: tuple(kind) for kind in sentences.QUALITIES.values() for adjective in kind}

Change: TypeAlias = Callable[[Scene, Random], Scene]


def _with_entity(scene: Scene, position: int, entity: Entity) -> Scene:
    return replace(scene, second=entity) if position else replace(scene, first=entity)


def _choose_entity(scene: Scene, rng: Random) -> tuple[int, Entity]:
    position = rng.randrange(len(scene.entities))
    return position, scene.entities[position]


def _rename(scene: Scene, entity: Entity, rng: Random) -> Entity:
    used = [present.name for present in scene.entities]
    return replace(entity, name=rng.choice([name for name in sentences.NAMES if name not in used]))


def replace_object(scene: Scene, rng: Random) -> Scene:
    """Replace one of the entities by another object."""
    position, entity = _choose_entity(scene, rng)
    return _with_entity(scene, position, _rename(scene, entity, rng))


def replace_subject(scene: Scene, rng: Random) -> Scene:
    """Replace the first entity by another object."""
    return _with_entity(scene, 0, _rename(scene, scene.first, rng))


def replace_target(scene: Scene, rng: Random) -> Scene:
    """Replace the second entity by another object."""
    return _with_entity(scene, 1, _rename(scene, _both(scene)[1], rng))


def replace_state(scene: Scene, rng: Random) -> Scene:
    """Replace an attribute of an entity by another one of the same kind; an entity without attributes is unchanged."""
    position, entity = _choose_entity(scene, rng)
    if not entity.states:
        return scene
    state = rng.choice(entity.states)
    replacement = rng.choice([candidate for candidate in SAME_KIND[state] if candidate != state])
    states = tuple(replacement if old == state else old for old in entity.states)
    return _with_entity(scene, position, replace(entity, states=states))


def replace_relation(scene: Scene, rng: Random) -> Scene:
    """Replace the action, the place, or the direction of a spatial relation. Left and right are not replaced by above
    and below, because that difference is visible without knowing which entity is which.
    """
    if scene.relation in RELATIONS:
        return replace(scene, relation=sentences.CONVERSES[scene.relation])
    alternatives = sentences.ACTIONS if scene.relation in sentences.ACTIONS else tuple(sentences.PLACES)
    return replace(scene, relation=rng.choice([relation for relation in alternatives if relation != scene.relation]))


def replace_number(scene: Scene, rng: Random) -> Scene:
    """Replace the number of the first entity."""
    count = rng.choice([number for number in (1, *sentences.NUMBERS) if number != scene.first.count])
    return replace(scene, first=replace(scene.first, count=count))


def replace_size(scene: Scene, rng: Random) -> Scene:
    """Replace big by small, and small by big."""
    sizes = dict(zip(sentences.SIZES, reversed(sentences.SIZES), strict=True))
    position, entity = _choose_entity(scene, rng)
    return _with_entity(scene, position, replace(entity, size=sizes.get(entity.size, "")))


def _both(scene: Scene) -> tuple[Entity, Entity]:
    if scene.second is None:
        raise ArgumentError("scene", f"has no two entities: {scene}")
    return scene.first, scene.second


def swap_entities(scene: Scene, rng: Random) -> Scene:
    """Exchange the two entities, with their attributes."""
    first, second = _both(scene)
    return Scene(second, first, scene.relation)


def swap_states(scene: Scene, rng: Random) -> Scene:
    """Exchange the attributes of the two entities."""
    first, second = _both(scene)
    return Scene(replace(first, states=second.states), replace(second, states=first.states), scene.relation)


def swap_names(scene: Scene, rng: Random) -> Scene:
    """Exchange the two entities, without their attributes."""
    first, second = _both(scene)
    return Scene(replace(first, name=second.name), replace(second, name=first.name), scene.relation)


def add_object(scene: Scene, rng: Random) -> Scene:
    """Add a second entity."""
    name = rng.choice([name for name in sentences.DENIABLE if name != scene.first.name])
    return replace(scene, second=Entity(name), relation="")


def add_state(scene: Scene, rng: Random) -> Scene:
    """Add an attribute that an entity was not stated to have."""
    position, entity = _choose_entity(scene, rng)
    if len(entity.states) > 1:
        return scene
    kinds = [
        kind for kind in sentences.QUALITIES.values() if ("red" in kind) != bool(entity.colour) or not entity.states
    ]
    state = rng.choice(list(rng.choice(kinds)))
    states = (*entity.states, state) if state in COLOURS else (state, *entity.states)
    return _with_entity(scene, position, replace(entity, states=states))


def deny_entity(scene: Scene, rng: Random) -> Scene:
    """State that one of the entities is absent."""
    entities = list(scene.entities)
    position = rng.randrange(len(entities))
    missing = replace(entities.pop(position), count=sentences.NONE)
    return Scene(entities[0], missing) if entities else Scene(missing)


def falsify(scene: Scene, statement: Scene, change: Change, rng: Random) -> Scene:
    """Return a change of a statement that is false of a scene.

    Raises:
        ArgumentError: no change of this kind is false.
    """
    for _ in range(TRIES):
        changed = change(statement, rng)
        if not sentences.is_true_of(changed, scene):
            return changed
    raise ArgumentError("statement", f"is {statement}, of which no {change.__name__} is false of {scene}")


def counterfactual(scene: Scene, change: Change, rng: Random) -> Scene:
    """Return a counterfactual of a scene: either scene is false of the other.

    Raises:
        ArgumentError: no change of this kind is one.
    """
    for _ in range(TRIES):
        changed = change(scene, rng)
        if not sentences.is_true_of(changed, scene) and not sentences.is_true_of(scene, changed):
            return changed
    raise ArgumentError("scene", f"is {scene}, of which no {change.__name__} is a counterfactual")
