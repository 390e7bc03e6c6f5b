# Phase 4: runs. A batch is a process; its name is the digest of its runs, and what they keep is no output of Snakemake,
# so that nothing a killed process had reached is lost.


rule train:
    input:
        lambda wildcards: ancient(receipts.before_batch(wildcards.folder)),
    output:
        receipts.pattern("runs"),
    threads: lambda wildcards: receipts.threads(wildcards.folder)
    resources:
        gpu=lambda wildcards: receipts.gpus(wildcards.folder),
    shell:
        "{PYTHON} -m recompose train {wildcards.folder} --receipt {output}"


rule runs:
    input:
        receipts.all("runs"),
