# Phase 6: the index of the reports, and the numbers that DVC compares.


rule write_report:
    input:
        ancient(receipts.all("artifacts")),
    output:
        receipts.all("report"),
        report(
            "reports/metrics.json",
            caption="../report/metrics.rst",
            category="all papers",
            labels={"artifact": "metrics", "as": "data", "about": "Means over seeds on test images."},
        ),
    shell:
        "{PYTHON} -m recompose report --receipt {output[0]}"
