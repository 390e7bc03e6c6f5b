"""SICK and STS-Benchmark: pairs of sentences, graded by their shared facts.

The facts of a sentence are its objects, each of their attributes, and their relation, whichever is named first. The
similarity of two sentences is the share of the facts of either that both state. So a paraphrase, in other words or from
the other side, has the highest grade, and a sentence of the same words with another meaning does not.
"""

from collections.abc import Hashable, Sequence
from random import Random

from recompose.synthetic.sentences import CONVERSES, OPENINGS, Scene, Wording, caption
from recompose.tracks.vlc.data.formats import sick, sts_b
from recompose.tracks.vlc.data.synthetic_suites import changes
from recompose.tracks.vlc.data.synthetic_suites.photos import SuiteReplicate, held_out_scene

PAIRS = 160
CHANGES = 4  # pairs have fewer changes; every fifth pair has a sentence of another scene instead
OF_TWO = (
    *(changes.replace_state, changes.replace_object, changes.replace_relation, changes.replace_size),
    *(changes.swap_names, changes.swap_states, changes.swap_entities),
)
OF_ONE = (changes.replace_state, changes.replace_object, changes.replace_size, changes.replace_number)


def facts(statement: Scene) -> set[Hashable]:
    """Return the facts of a sentence.

    Example:
        >>> from recompose.synthetic.sentences import Entity
        >>> star, ring = Entity("star", ("red",)), Entity("ring")
        >>> facts(Scene(star, ring, "left of")) == facts(Scene(ring, star, "right of"))
        True
        >>> len(facts(Scene(star, ring, "left of")) & facts(Scene(ring, star, "left of")))
        3
    """
    stated: set[Hashable] = set()
    for entity in statement.entities:
        attributes = (entity.size, str(entity.count) if entity.count != 1 else "", *entity.states)
        stated |= {entity.name, *((entity.name, attribute) for attribute in attributes if attribute)}
    if statement.relation:
        sides = [(first.name, relation, second.name) for first, relation, second in statement.couples() if relation]
        stated.add(min(sides, default=(statement.first.name, statement.relation)))
    return stated


def similarity(first_statement: Scene, second_statement: Scene) -> float:
    """Return the share of the facts of either of two sentences that both state, from 0 to 1."""
    first, second = facts(first_statement), facts(second_statement)
    return len(first & second) / len(first | second)


def draw_similarity(replicate: SuiteReplicate) -> None:
    """Write both sets: sentences of two entities, and sentences of one entity or several alike."""
    pairs = _pairs(replicate, "sick", ("two", "act"), OF_TWO)
    rows = [
        (str(number), first, second, f"{1 + 4 * grade:.1f}", "NEUTRAL")
        for number, (first, second, grade) in enumerate(pairs, start=1)
    ]
    _write_tabbed(replicate, f"sick/{sick.FILE}", [sick.COLUMNS, *rows])
    pairs = _pairs(replicate, "sts_b", ("one", "many", "placed"), OF_ONE)
    graded = [
        ("main-captions", "drawn", "2017", f"{number:04d}", f"{5 * grade:.3f}", first, second)
        for number, (first, second, grade) in enumerate(pairs, start=1)
    ]
    _write_tabbed(replicate, f"sts_b/{sts_b.FILE}", graded)


def _pairs(
    replicate: SuiteReplicate, name: str, kinds: Sequence[str], allowed: Sequence[changes.Change]
) -> list[tuple[str, str, float]]:
    """Return pairs of sentences whose similarity ranges from no to all facts."""
    rng = replicate.rng(f"similarity/{name}")
    pairs = []
    for number in range(replicate.items(PAIRS)):
        base = held_out_scene(kinds[number % len(kinds)], rng)
        if number % (CHANGES + 1) == CHANGES:
            changed = held_out_scene(rng.choice(kinds), rng)
        else:
            changed = base
            for change in rng.sample(allowed, number % (CHANGES + 1)):
                changed = change(changed, rng)
        sentences = caption(base, _wording(base, rng)), caption(*_reword(changed, rng))
        pairs.append((*sentences, similarity(base, changed)))
    return pairs


def _reword(statement: Scene, rng: Random) -> tuple[Scene, Wording]:
    """Return the statement with a random wording, from the other side where there is one."""
    if statement.second is not None and statement.relation in CONVERSES and rng.randrange(2):
        statement = Scene(statement.second, statement.first, CONVERSES[statement.relation])
    return statement, _wording(statement, rng)


def _wording(statement: Scene, rng: Random) -> Wording:
    opening = rng.choice(("", *OPENINGS))
    sentence = bool(statement.relation and statement.first.count == 1 and rng.randrange(2))
    return Wording("" if sentence else opening, rng.choice(("a", "the")), sentence, bool(rng.randrange(2)))


def _write_tabbed(replicate: SuiteReplicate, path: str, rows: Sequence[Sequence[str]]) -> None:
    replicate.write(path, "".join("\t".join(row) + "\n" for row in rows))
