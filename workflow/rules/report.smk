# Phase 6: the index of the reports, and the numbers that DVC compares.


rule write_report:
    input:
        ancient(receipts.all("artifacts")),
    output:
        receipt=receipts.all("report")[0],
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
