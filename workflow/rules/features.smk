# Phase 3: the images of each data set, encoded once.


rule cache_features:
    input:
        lambda wildcards: ancient(receipts.before_features(wildcards.folder)),
    output:
        receipts.pattern("features"),
    params:
        dataset=lambda wildcards: receipts.dataset_of("features", wildcards.folder),
    threads: work.params.chosen.trainer.threads
    resources:
        gpu=receipts.gpus_of_towers,
    shell:
        "{PYTHON} -m recompose features {params.dataset} --expect {wildcards.folder} --receipt {output}"


rule features:
    input:
        receipts.all("features"),
