"""`recompose report`: the page, its index for code hosts, and the metrics that DVC compares."""

import gc
from dataclasses import replace

from recompose.audit.audit import audit
from recompose.audit.findings import Audit
from recompose.commands.summary import show_summary
from recompose.site.build import page_of
from recompose.tables.index import builds_of, write_index
from recompose.tables.published import PublishedLineage
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace


def write_report(work: Workspace) -> None:
    """Write the page of a profile's papers with the files beside it, and print a summary."""
    show_summary(work, *write_page(work))


def write_page(work: Workspace) -> tuple[PublishedLineage, Audit]:
    """Write the page of a profile's papers with the files beside it; return what they show."""
    papers = work.papers
    on_disk = PublishedLineage.read(work, papers)
    published = replace(on_disk, made=builds_of(work, on_disk))  # as is written below
    gc.freeze()  # lineages live to the end as well
    audited = audit(work, papers, published, quick=True)
    write_index(StoredResults(work), published, page_of(work, published, audited))
    return published, audited
