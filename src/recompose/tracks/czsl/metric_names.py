"""The names of the metrics that ``metric_values`` yields, and how each is shown. Planning reads them: no NumPy."""

from recompose.tables.metric import Metric

SPLITS = ("val", "test")
WORLDS = (
    "closed",
    "open",
    "feasible",  # the seen and the feasible pairs of the open world, by the threshold with the best AUC on validation
    "feasible-released",  # the same as in the released code, with its defects
)
NUMBERS = {"S": "seen", "U": "unseen", "H": "harmonic_mean", "AUC": "auc"}  # by the papers' columns
GROUPS = ("head", "medium", "tail", "unseen")  # by how often training showed a pair
ACCURACY, OF_GROUP = Metric("%", 100, 1, better=1), Metric("%", 100, 2, better=1)
_PARTS = {
    **{f"{sweep}/{number}": ACCURACY for sweep in ("dense", "field") for number in NUMBERS.values()},
    "state": ACCURACY,
    "object": ACCURACY,
    "threshold": Metric("", 1, 3, better=0),
    **{f"groups/{bias}/{group}": OF_GROUP for bias in ("unbiased", "balanced") for group in (*GROUPS, "seen")},
}  # by the part of a name after split and world
METRICS = {f"{split}/{world}/{part}": about for split in SPLITS for world in WORLDS for part, about in _PARTS.items()}
