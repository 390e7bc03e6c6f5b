"""SICK's relatedness (SICK-R): pairs of sentences that people graded from 1 to 5 (Marelli et al., 2014).

The 4,927 pairs of the test set of SemEval 2014, Task 1, the usual test of sentence embeddings.
"""

from recompose.tracks.vlc.data.formats.reading import check_distinct
from recompose.tracks.vlc.data.formats.sources import archive, place_of
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import SubTask

FILE = "SICK_test_annotated.txt"
COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
SUBTASKS = (SubTask("sick", "similarity", 4_927),)  # pairs of its test set
MEANS = ("sick",)
LAYOUT = (
    f"<suite>/{FILE}, of sick_test_annotated.zip of alt.qcri.org/semeval2014/task1 (Data and Tools): a table with tabs "
    f"and the columns {', '.join(COLUMNS)}"
)

ADDRESS = "https://alt.qcri.org/semeval2014/task1/data/uploads/sick_test_annotated.zip"
SOURCES = (archive("sick", ADDRESS, place_of("sick", FILE)),)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published.
    """
    rows = files.tabbed(FILE, COLUMNS[:4], header=True)
    check_distinct(rows, "pair_ID")
    return files.suite({"": files.similarity(rows, COLUMNS[1:3], "relatedness_score", (1, 5))})
