"""SICK and STS-Benchmark: pairs of sentences, graded by how much of what they say is the same.

What a sentence says are facts: which things there are, each of their attributes, and how they are related, whichever is
named first. Two sentences are as similar as the share of facts of either that both say. So a paraphrase, in other words
or from the other side, has the highest grade, and sentences of the same words that say something else do not.
"""

from collections.abc import Callable, Hashable, Sequence
from random import Random

from recompose.synthetic.sentences import CONVERSES, OPENINGS, Scene, Wording, caption
from recompose.tracks.vlc.data.formats import sick, sts_b
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import (
    Change,
    other_number,
    other_object,
    other_relation,
    other_size,
    other_state,
    swapped_names,
    swapped_states,
    swapped_things,
)
from recompose.tracks.vlc.data.synthetic_suites.files import write
from recompose.tracks.vlc.data.synthetic_suites.photos import World, held_out

PAIRS = 160
CHANGES = 4  # at most, in one sentence; with as many the other sentence is of another scene
OF_TWO: tuple[Change, ...] = (
    *(other_state, other_object, other_relation, other_size),
    *(swapped_names, swapped_states, swapped_things),
)
OF_ONE: tuple[Change, ...] = (other_state, other_object, other_size, other_number)


def facts(said: Scene) -> set[Hashable]:
    """What a sentence says.

    Example:
        >>> from recompose.synthetic.sentences import Entity
        >>> star, ring = Entity("star", ("red",)), Entity("ring")
        >>> facts(Scene(star, ring, "left of")) == facts(Scene(ring, star, "right of"))
        True
        >>> len(facts(Scene(star, ring, "left of")) & facts(Scene(ring, star, "left of")))
        3
    """
    found: set[Hashable] = set()
    for thing in said.entities:
        told = (thing.size, str(thing.count) if thing.count != 1 else "", *thing.states)
        found |= {thing.name, *((thing.name, each) for each in told if each)}
    if said.relation:
        sides = [(first.name, relation, second.name) for first, relation, second in said.couples() if relation]
        found.add(min(sides, default=(said.first.name, said.relation)))
    return found


def similarity(one: Scene, other: Scene) -> float:
    """The share of the facts of either of two sentences that both say, from 0 to 1."""
    first, second = facts(one), facts(other)
    return len(first & second) / len(first | second)


def draw_similarity(world: World) -> None:
    """Write both sets: of sentences of two things, and of sentences of one thing or several alike."""
    pairs = _pairs(world, sick.NAME, ("two", "act"), OF_TWO)
    rows = [
        (str(number), first, second, f"{1 + 4 * grade:.1f}", "NEUTRAL")
        for number, (first, second, grade) in enumerate(pairs, start=1)
    ]
    _write_tabbed(world, f"{sick.NAME}/{sick.FILE}", [sick.COLUMNS, *rows])
    pairs = _pairs(world, sts_b.NAME, ("one", "many", "placed"), OF_ONE)
    graded = [
        ("main-captions", "drawn", "2017", f"{number:04d}", f"{5 * grade:.3f}", first, second)
        for number, (first, second, grade) in enumerate(pairs, start=1)
    ]
    _write_tabbed(world, f"{sts_b.NAME}/{sts_b.FILE}", graded)


def _pairs(
    world: World, name: str, kinds: Sequence[str], changes: Sequence[Callable[[Scene, Random], Scene]]
) -> list[tuple[str, str, float]]:
    """Pairs of sentences with what is between them, from none to all of what they say."""
    rng = world.rng(f"similarity/{name}")
    pairs = []
    for number in range(world.items(PAIRS)):
        one = held_out(kinds[number % len(kinds)], rng)
        if number % (CHANGES + 1) == CHANGES:
            other = held_out(rng.choice(kinds), rng)
        else:
            other = one
            for change in rng.sample(changes, number % (CHANGES + 1)):
                other = change(other, rng)
        said = caption(one, _wording(one, rng)), caption(*_reworded(other, rng))
        pairs.append((*said, similarity(one, other)))
    return pairs


def _reworded(said: Scene, rng: Random) -> tuple[Scene, Wording]:
    """The same from the other side, where there is one, in some wording."""
    if said.second is not None and said.relation in CONVERSES and rng.randrange(2):
        said = Scene(said.second, said.first, CONVERSES[said.relation])
    return said, _wording(said, rng)


def _wording(said: Scene, rng: Random) -> Wording:
    opening, sentence = rng.choice(("", *OPENINGS)), bool(said.relation and said.first.count == 1 and rng.randrange(2))
    return Wording("" if sentence else opening, rng.choice(("a", "the")), sentence, bool(rng.randrange(2)))


def _write_tabbed(world: World, path: str, rows: Sequence[Sequence[str]]) -> None:
    write(world.root / path, "".join("\t".join(row) + "\n" for row in rows))
