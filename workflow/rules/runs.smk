# Phase 4: runs. A batch is a process; its name is the digest of its runs, and what they keep is no output of Snakemake,
# so that nothing a killed process had reached is lost.


rule train:
    input:
        lambda wildcards: ancient(receipts.before_batch(wildcards.folder)),
    output:
        receipt=receipts.pattern("runs"),
    log:
        receipts.log("runs"),
    threads: lambda wildcards: receipts.threads(wildcards.folder)
    resources:
        gpu=lambda wildcards: receipts.gpus(wildcards.folder),
    shell:
        "python -m recompose train {wildcards.folder} --receipt {output.receipt} 2>&1 | tee {log}"


rule runs:
    input:
        receipts.all("runs"),
