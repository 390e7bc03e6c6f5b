"""`recompose report`: the page, its index for code hosts, and the metrics that DVC compares."""

import gc
from functools import partial
from hashlib import sha256
from pathlib import Path

from recompose.audit.audit import audit
from recompose.audit.findings import Audit
from recompose.commands.summary import show_summary
from recompose.files import write_text
from recompose.phases import make_content
from recompose.site.build import page_of
from recompose.tables.index import PAGE, index_texts
from recompose.tables.provenance import PROVENANCE, Made
from recompose.tables.published import Published
from recompose.tables.reports import PUBLISHED, Reports
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace


def write_report(work: Workspace) -> None:
    """Make the page of a profile's papers with the files beside it, and print a summary."""
    reports = Reports(work)
    show_summary(reports, *make_page(reports))


def make_page(reports: Reports) -> tuple[Published, Audit]:
    """Make the page with the files beside it, and publish them; return what they show.

    Raises:
        DamagedError: a table or figure was not made, or was changed.
    """
    work = reports.work
    published = Published.of_store(reports)
    gc.freeze()  # recipes and cells live to the end as well
    audited = audit(reports, published, work.papers, quick=True)
    reports.discard_outdated(reports.page)
    make_content(work, reports.page, partial(write_page, reports, published, audited))
    reports.publish(reports.page)
    return published, audited


def write_page(reports: Reports, published: Published, audited: Audit, folder: Path) -> None:
    """Write the page, the files beside it, and the provenance of everything into the folder of its content."""
    page = page_of(reports, published, audited)
    texts = {PAGE: page, **index_texts(StoredResults(reports.work))}
    digests = {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
    texts[PROVENANCE] = published.provenance(reports.work.papers, reports.page, digests).text
    for name, text in texts.items():
        write_text(folder / PUBLISHED / name, text)
    Made.of(published.made, published.values, folder / PUBLISHED / PROVENANCE).write(folder / PUBLISHED)
