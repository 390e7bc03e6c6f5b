# Phase 2: the frozen backbone, pretrained here or released.


rule make_backbone:
    output:
        receipts.pattern("backbone"),
    threads: work.params.chosen.trainer.threads
    resources:
        gpu=receipts.gpus_of_towers,
    shell:
        "{PYTHON} -m recompose backbone --expect {wildcards.folder} --receipt {output}"


rule backbone:
    input:
        receipts.all("backbone"),
