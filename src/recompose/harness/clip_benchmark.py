"""Results of ``recompose evaluate`` in the form of LAION-AI/CLIP_benchmark: a document for each data set.

The form is that of ``clip_benchmark eval`` at 48de38c, which ``clip_benchmark build`` collects into one table: the keys
``dataset``, ``model``, ``pretrained``, ``task``, ``metrics`` and ``language``. Data sets that both projects have with
the same items have CLIP_benchmark's name; all others keep theirs here.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from recompose.files import Document
from recompose.harness.stored_evaluation import EvaluationResult
from recompose.progress import say
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from recompose.tracks.vlc.suites.judges import RECALLS
from recompose.tracks.vlc.suites.tasks import WAYS
from recompose.tracks.vlc.suites.values import CLASSIFICATION_FORM, PREFIX

SELECTION, RETRIEVAL = "image_caption_selection", "zeroshot_retrieval"
CLASSIFICATION, SIMILARITY = "zeroshot_classification", "text_similarity"  # the last one is not CLIP_benchmark's
LANGUAGE = "en"
NO_WEIGHTS = "none"  # of a function of the user's own that was called without
# of suites; those of Winoground and Flickr30k equal
THEIR_NAMES = {"sugarcrepe": "sugar_crepe", "coco": "mscoco_captions"}
RETRIEVED = {"i2t": "text", "t2i": "image"}
ACCURACY = {"accuracy": "acc1", "mean-per-class": "mean_per_class_recall"}  # others keep their names


def documents_of(
    result: EvaluationResult, queries: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[str, Document]]:
    """Yield the name of a file and its document for each data set with numbers, and tell which ones are left out.

    Args:
        result: of the evaluation.
        queries: of the sub-tasks of plugins' forms of suites.

    Example:
        >>> result = EvaluationResult(
        ...     model="ViT-B-32", weights={"name": "openai"}, suites=["sugarcrepe"],
        ...     metrics={"test/sugarcrepe/swap_obj": 0.5}, items={"sugarcrepe/swap_obj": {"items": 2, "left_out": 0}})
        >>> name, document = next(documents_of(result))
        >>> name
        'sugar_crepe_swap_obj_openai_ViT-B-32_en_image_caption_selection.json'
        >>> document["dataset"], document["metrics"]
        ('sugar_crepe/swap_obj', {'text_acc': 0.5, 'acc': 0.5})
    """
    pretrained = (result.weights.get("name") or NO_WEIGHTS) + (f" alpha {result.alpha:g}" if result.alpha != 1 else "")
    for leaf in dict.fromkeys(_dataset(name, queries) for name in result.items):
        numbers = {name.removeprefix(PREFIX): value for name, value in result.metrics.items()}
        task, metrics = _metrics(leaf, numbers, queries)
        if not metrics:
            say(f"{leaf} is left out: it has no numbers of a task that CLIP_benchmark has")
            continue
        suite, _, part = leaf.partition("/")
        dataset = "/".join(filter(None, (THEIR_NAMES.get(suite, suite), part)))
        document = {
            "dataset": dataset,
            "model": result.model,
            "pretrained": pretrained,
            "task": task,
            "metrics": metrics,
            "language": LANGUAGE,
        }
        parts = (dataset, pretrained, result.model, LANGUAGE, task)
        yield "_".join(re.sub(r"[^\w.@+-]+", "_", part) for part in parts) + ".json", document


def _dataset(leaf: str, queries: Mapping[str, str]) -> str:
    """Return the data set of scores: both directions of retrieval are one."""
    return leaf if leaf in SUBTASKS or leaf in queries else leaf.removesuffix("/i2t").removesuffix("/t2i")


def _metrics(leaf: str, numbers: dict[str, float], queries: Mapping[str, str]) -> tuple[str, dict[str, float]]:
    """Return the task of a data set, and its metrics by CLIP_benchmark's names; those without a number are absent."""
    subtask = SUBTASKS.get(leaf)
    is_classified = leaf.startswith(f"{CLASSIFICATION_FORM}/")
    query = subtask.query if subtask else queries.get(leaf, "classes" if is_classified else "retrieval")
    metric = subtask.metric if subtask else "accuracy"
    task, names = {
        "i2t": (SELECTION, {"text_acc": leaf, "acc": leaf}),
        "t2i": (SELECTION, {"image_acc": leaf, "acc": leaf}),
        "group": (SELECTION, {"image_acc": f"{leaf}/image", "text_acc": f"{leaf}/text", "acc": leaf}),
        "triplet": (SELECTION, {"text_acc": leaf, "acc": leaf, "text_only_acc": f"{leaf}/text_only"}),
        "similarity": (SIMILARITY, {"spearman": leaf, "pearson": f"{leaf}/pearson"}),
        "classes": (CLASSIFICATION, {ACCURACY.get(metric, metric): leaf}),
        "retrieval": (
            RETRIEVAL,
            {f"{RETRIEVED[way]}_retrieval_recall@{k}": f"{leaf}/{way}/r{k}" for k in RECALLS for way in reversed(WAYS)},
        ),
    }.get(query, (SELECTION, {"acc": leaf}))
    return task, {name: numbers[metric] for name, metric in names.items() if metric in numbers}
