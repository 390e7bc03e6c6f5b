"""CREPE's systematicity: captions whose compounds of words are or are not in a training set (Ma et al., 2023).

Read like ``crepe_eval_utils.py`` and ``crepe_compo_eval_open_clip.py`` of RAIVNLab/CREPE at 1fa81c4. Regions of Visual
Genome are split anew for each of three training sets: those whose compounds it has (``seen``), and those of which it
lacks one (``unseen``). The candidates are the true caption and then all its hard negatives of a kind: ``atom``, with a
word replaced; ``comp``, composed of two such captions; ``combined``, both. Its authors use the splits of a training set
for models of that set alone, and compare R@1.

A region without a hard negative of a kind is left out of that kind, and the number is reported; the released code would
count it as right.
"""

from recompose.progress import say
from recompose.tracks.vlc.data.formats.crepe import ADDRESS, question
from recompose.tracks.vlc.data.formats.reading import VISUAL_GENOME, AnnotationItem
from recompose.tracks.vlc.data.formats.sources import VISUAL_GENOME_PARTS, archive
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import SubTask
from recompose.tracks.vlc.suites.tasks import Choices, Task

CORPORA, SPLITS = ("cc12m", "yfcc", "laion"), ("seen", "unseen")
REGION = ("image_id", "caption", "x", "y", "width", "height")
NEGATIVES = {kind: f"valid_hard_negs_{kind}" for kind in ("atom", "comp", "combined")}  # lists or sets of Python
NONE = ("[]", "set()")  # as Python writes an empty list or set
SUBTASKS = tuple(  # sorted, with an unspecified order of equal scores
    SubTask(f"crepe_systematicity/{corpus}_{split}_{kind}", "i2t", None, "strict")
    for corpus in CORPORA
    for split in SPLITS
    for kind in NEGATIVES
)
MEANS = tuple(task.name for task in SUBTASKS)  # the paper compares these numbers with each other, and has no mean
IS_DRAWN = False  # of no paper here: it has no synthetic data
LAYOUT = f"""\
<suite>/syst_hard_negatives/syst_vg_hard_negs_<split>_compounds_in_<corpus>.csv, splits {" and ".join(SPLITS)}, \
training sets {", ".join(CORPORA)}: data/syst_hard_negatives.zip of github.com/RAIVNLab/CREPE
{VISUAL_GENOME}/<image_id>.jpg: both parts of Visual Genome's images, visualgenome.org"""

SOURCES = (
    archive(
        "crepe",
        f"{ADDRESS}/data/syst_hard_negatives.zip",
        {r"(syst_vg_hard_negs_\w+\.csv)": "crepe_systematicity/syst_hard_negatives"},
    ),
    *VISUAL_GENOME_PARTS,
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published.
    """
    tasks: dict[str, Task] = {}
    for corpus in CORPORA:
        for split in SPLITS:
            path = f"syst_hard_negatives/syst_vg_hard_negs_{split}_compounds_in_{corpus}.csv"
            rows = files.rows(path, (*REGION, *NEGATIVES.values()))
            tasks |= {f"{corpus}_{split}_{kind}": _choices(files, rows, column) for kind, column in NEGATIVES.items()}
    return files.suite(tasks)


def _choices(files: SuiteFiles, rows: list[AnnotationItem], column: str) -> Choices:
    questions = [question(row, column) for row in rows if row.text(column).strip() not in NONE]
    if left_out := len(rows) - len(questions):
        say(f"{files.name}: {left_out} of {len(rows)} regions of {rows[0].file.name} left out: no {column}")
    return files.choices("i2t", questions)
