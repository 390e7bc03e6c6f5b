"""STS-Benchmark: pairs of sentences that people graded from 0 to 5 (Cer et al., 2017).

The 1,379 pairs of the test set. The file has no header; some rows have two more cells, the sources of the sentences.
"""

from recompose.tracks.vlc.data.formats.sources import archive, place_of
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import SubTask

FILE = "sts-test.csv"
COLUMNS = ("genre", "file", "year", "number", "score", "first sentence", "second sentence")
SUBTASKS = (SubTask("sts_b", "similarity", 1_379),)  # pairs of its test set
MEANS = ("sts_b",)
LAYOUT = (
    f"<suite>/{FILE}, of Stsbenchmark.tar.gz of ixa2.si.ehu.eus/stswiki: a table with tabs and without a header; "
    f"its columns are {', '.join(COLUMNS)}"
)

ADDRESS = "http://ixa2.si.ehu.eus/stswiki/images/4/48/Stsbenchmark.tar.gz"
SOURCES = (archive("sts_b", ADDRESS, place_of("sts_b", FILE)),)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published.
    """
    rows = files.tabbed(FILE, COLUMNS, header=False)
    return files.suite({"": files.similarity(rows, COLUMNS[5:], "score", (0, 5))})
