"""The names of the metrics that ``metric_values`` yields, and how each is shown. Planning reads them: no NumPy."""

from recompose.tables.metric import Metric

ACCURACY, OF_UNCERTAINTY = Metric("%", 100, 1, better=1), Metric("", 1, 3, better=0)
BIASES = ("own", "validated", "none")
NUMBERS = {"U": "unseen", "S": "seen", "H": "harmonic_mean"}  # by the papers' columns
VIEWS = ("vgt", "agt", "fused")
GROUPS = ("seen", "unseen", "hard", "clean")  # of images
METRICS = {
    **{f"test/{bias}/{number}": ACCURACY for bias in BIASES for number in NUMBERS.values()},
    **dict.fromkeys(("test/accuracy", "test/curve/area"), ACCURACY),
    **{f"test/paths/{view}/{number}": ACCURACY for view in VIEWS for number in ("harmonic_mean", "accuracy")},
    **{f"test/uncertainty/{view}/{group}": OF_UNCERTAINTY for view in VIEWS for group in GROUPS},
    **{f"val/uncertainty/fused/{epoch}": OF_UNCERTAINTY for epoch in ("first", "last")},
}
