"""STS-Benchmark: pairs of sentences that people graded from 0 to 5 (Cer et al., 2017).

The 1,379 pairs of the test set. The file has no header; some rows have two more cells, the sources of the sentences.
"""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import read_tabbed, similarity_task
from recompose.tracks.vlc.data.suite import Collector, Suite

NAME, FILE = "sts_b", "sts-test.csv"
COLUMNS = ("genre", "file", "year", "number", "score", "first sentence", "second sentence")
LAYOUT = (
    f"{NAME}/{FILE}, of Stsbenchmark.tar.gz of ixa2.si.ehu.eus/stswiki: a table with tabs and without a header; "
    f"its columns are {', '.join(COLUMNS)}"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: the file is absent or not as published.
    """
    collector = Collector()
    rows = read_tabbed(root / NAME / FILE, LAYOUT, COLUMNS, header=False)
    return collector.suite(NAME, {NAME: similarity_task(rows, *COLUMNS[5:], "score", (0, 5), collector)})
