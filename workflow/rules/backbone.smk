# Phase 2: the frozen backbone, pretrained here or released.


rule make_backbone:
    output:
        receipt=receipts.pattern("backbone"),
    log:
        receipts.log("backbone"),
    threads: work.params.chosen.trainer.threads
    resources:
        gpu=receipts.gpus_of_towers,
    shell:
        "python -m recompose backbone --expect {wildcards.folder} --receipt {output.receipt} 2>&1 | tee {log}"


rule backbone:
    input:
        receipts.all("backbone"),
