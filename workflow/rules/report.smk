# The report site, the index for code hosts, and the numbers that DVC compares.


rule write_report:
    """The report site, the index for code hosts, and the numbers that DVC compares."""
    input:
        ancient(engine.paper_receipts()),
    output:
        receipt=engine.report_receipt,
        page=report(
            update("reports/index.html"),
            caption="../report/page.rst",
            category="all papers",
            labels={"artifact": "site", "as": "page", "about": "Every table, figure and claim, and the runs behind each number."},
        ),
        metrics=report(
            update("reports/metrics.json"),
            caption="../report/metrics.rst",
            category="all papers",
            labels={"artifact": "metrics", "as": "data", "about": "Means over seeds on test images."},
        ),
    log:
        "results/logs/report.log",
    message:
        "the report site, with an audit of everything in it"
    resources:
        **ROOM,
    shell:
        "python -m recompose report --receipt {output.receipt} 2>&1 | tee {log}"
