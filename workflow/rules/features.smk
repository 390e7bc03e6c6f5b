# Phase 3: the images of each data set, encoded once.


rule cache_features:
    input:
        lambda wildcards: ancient(receipts.before_features(wildcards.folder)),
    output:
        receipt=receipts.pattern("features"),
    log:
        receipts.log("features"),
    params:
        dataset=lambda wildcards: receipts.dataset_of("features", wildcards.folder),
    threads: work.params.chosen.trainer.threads
    resources:
        gpu=receipts.gpus_of_towers,
    shell:
        "python -m recompose features {params.dataset} --expect {wildcards.folder} --receipt {output.receipt} 2>&1 | tee {log}"


rule features:
    input:
        receipts.all("features"),
