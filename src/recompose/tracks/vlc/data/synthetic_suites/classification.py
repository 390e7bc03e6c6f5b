"""Zero-shot classification: shapes, colours, other attributes and numbers, some with the look of another camera."""

from collections.abc import Callable, Sequence
from random import Random

from recompose.synthetic.looks import CATALOGUE, SCENES, Look
from recompose.synthetic.objects import COLOURS
from recompose.synthetic.sentences import NAMES, NUMBERS, OPENINGS, QUALITIES, Entity, Scene
from recompose.tracks.vlc.data.formats import elevater
from recompose.tracks.vlc.data.shapes_captions import CRAWL, WEB
from recompose.tracks.vlc.data.synthetic_suites.photos import SuiteReplicate, assign_colours

PICTURES = 48  # of a set


def _sets() -> dict[str, tuple[Look, Sequence[str], Callable[[str, Random], Scene]]]:
    """Return set -> its look, its classes, and a generator of scenes of a class."""

    def object_of(name: str, rng: Random) -> Scene:
        return assign_colours(Scene(Entity(name)), rng)

    def state_of(state: str, rng: Random) -> Scene:
        scene = Scene(Entity(rng.choice(NAMES), (state,)))
        return scene if state in COLOURS else assign_colours(scene, rng)

    def number_of(number: str, rng: Random) -> Scene:
        count = {word: count for count, word in NUMBERS.items()}.get(number.split()[0], 1)
        return assign_colours(Scene(Entity("heart", count=count)), rng)

    return {
        "shapes": (SCENES, NAMES, object_of),
        "shapes-elsewhere": (CATALOGUE, NAMES, object_of),
        "colours": (WEB, tuple(QUALITIES["colour"]), state_of),
        "textures": (SCENES, tuple(QUALITIES["texture"]), state_of),
        "finishes": (CRAWL, tuple(QUALITIES["finish"]), state_of),
        "conditions": (WEB, tuple(QUALITIES["condition"]), state_of),
        "counts": (CRAWL, ("a heart", *(f"{word} hearts" for word in NUMBERS.values())), number_of),
    }


def _templates(name: str) -> list[str]:
    if name == "counts":
        return [f"a {opening} of {{}}" for opening in OPENINGS]
    if name.startswith("shapes"):
        return [f"a {opening} of a {{}}" for opening in OPENINGS]
    return [f"a photo of a {{}} {shape}" for shape in NAMES]


def draw_classification(replicate: SuiteReplicate) -> None:
    """Draw the sets' pictures, and write their indices, prompts and registry."""
    registry = []
    prompts: dict[str, dict[str, list[str]]] = {"class_map": {}, "template_map": {}}
    for name, (look, classes, scene_of) in _sets().items():
        pictures = max(replicate.items(PICTURES), len(classes))  # each class at least once
        below, rng, lines = f"classification/{name}", replicate.rng(f"elevater/{name}"), []
        for number in range(pictures):
            label = number % len(classes)
            replicate.photo(f"images/elevater/{below}/test/{number:05d}.png", scene_of(classes[label], rng), look)
            lines.append(f"test.zip@{number:05d}.png {label}\n")
        replicate.write(f"elevater/{below}/test.txt", "".join(lines))
        prompts["class_map"][name], prompts["template_map"][name] = list(classes), _templates(name)
        test = {"index_path": "test.txt", "files_for_local_usage": ["test.zip"], "num_images": pictures}
        entry = {"name": name, "type": "classification_multiclass", "root_folder": below, "num_classes": len(classes)}
        registry.append(entry | {"test": test})
    replicate.write_json(f"elevater/{elevater.PROMPTS}", prompts)
    replicate.write_json(f"elevater/{elevater.REGISTRY}", registry)
