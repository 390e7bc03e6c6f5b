# The report site, the index for code hosts, and the numbers that DVC compares.


# A step of `all`: the report site, as soon as the first paper is there; it says what is still to come.
rule first_page:
    input:
        lambda wildcards: ancient(engine.first_page_prerequisites()),
    output:
        receipt=engine.receipts.first_page,
    log:
        "results/logs/first-page.log",
    params:
        to_come=lambda wildcards: " ".join(f"--to-come {name}" for name in engine.later_papers),
    message:
        "the report site, with the first paper in it"
    priority: FIRST
    resources:
        **ROOM,
    shell:
        "python -m recompose.worker report {params.to_come} --receipt {output.receipt} 2>&1 | tee {log}"


# A step of `all`: the report site with all papers in it.
rule write_report:
    input:
        ancient(engine.paper_receipts()),
        lambda wildcards: ancient(engine.first_page_receipts()), # two that write the same pages go one after the other
    output:
        receipt=engine.receipts.report,
        page=report(
            update(f"{work.reports_place}/index.html"),
            caption="../report/page.rst",
            category="all papers",
            labels={
                "artifact": "site",
                "as": "page",
                "about": "Every table, figure and claim, and the runs behind each number.",
            },
        ),
        metrics=report(
            update(f"{work.reports_place}/metrics.json"),
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
        "python -m recompose.worker report --receipt {output.receipt} 2>&1 | tee {log}"
