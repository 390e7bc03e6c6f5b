# Phase 1: raw data onto this disk, checked and indexed.


rule acquire:
    output:
        receipts.pattern("data"),
    params:
        dataset=lambda wildcards: receipts.dataset_of("data", wildcards.folder),
    retries: 1
    shell:
        "{PYTHON} -m recompose acquire {params.dataset} --expect {wildcards.folder} --receipt {output}"


rule data:
    input:
        receipts.all("data"),
