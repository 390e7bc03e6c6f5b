# Phase 6: the report site, the index for code hosts, and the numbers that DVC compares.


rule write_report:
    input:
        ancient(receipts.all("artifacts")),
    output:
        receipt=receipts.all("report")[0],
        page=report(
            "reports/index.html",
            caption="../report/page.rst",
            category="all papers",
            labels={"artifact": "site", "as": "page", "about": "Every table, figure and claim, and the runs behind each number."},
        ),
        metrics=report(
            "reports/metrics.json",
            caption="../report/metrics.rst",
            category="all papers",
            labels={"artifact": "metrics", "as": "data", "about": "Means over seeds on test images."},
        ),
    log:
        "results/logs/report.log",
    shell:
        "python -m recompose report --receipt {output.receipt} 2>&1 | tee {log}"
