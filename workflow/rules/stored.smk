# What is kept in results/: data, backbones, features, grids, runs with their evaluations. A job makes a batch of them; what it makes is
# no output of Snakemake, so that nothing a killed process had reached is lost.
#
# There is a rule for each stage, and what the first stage needs comes first: to Snakemake priority is a rule's, not a job's.

JOBS = "results/receipts/{scope}/%s/{job}.json"
MAKE = "python -m recompose.worker make --job {wildcards.job} --receipt {output.receipt} 2>&1 | tee {log}"


rule make_data:
    """Raw data onto this disk, checked and indexed."""
    output:
        receipt=JOBS % DATA,
    log:
        "results/logs/data/{scope}-{job}.log",
    params:
        says=lambda wildcards: engine.job(wildcards.job).says,
    message:
        "{params.says}"
    priority: len(engine.queues) + 1 # or what a later stage makes of its data would go before the data of the first
    resources:
        mem_mb=lambda wildcards, attempt: engine.job(wildcards.job).memory * attempt,
        runtime=lambda wildcards, attempt: job_resources.longer(engine.job(wildcards.job).minutes, attempt),
        nodes=1,
        **AFTER_QUEUED,
    retries: 1
    shell: # at once: it needs none of what the server imports meanwhile
        MAKE.replace("recompose.worker", "recompose")


for _place, _queue in enumerate(engine.queues):

    rule:
        name:
            f"make_{rule_suffix(_queue)}"
        input:
            lambda wildcards: ancient(engine.prerequisites(wildcards.scope, wildcards.job)),
        output:
            receipt=JOBS % _queue,
        log:
            f"results/logs/{_queue}/{{scope}}-{{job}}.log",
        params:
            says=lambda wildcards: engine.job(wildcards.job).says,
        message:
            "{params.says}"
        threads: lambda wildcards: engine.job(wildcards.job).threads
        priority: len(engine.queues) - _place
        resources:
            gpu=lambda wildcards: engine.job(wildcards.job).gpus,
            mem_mb=lambda wildcards, attempt: engine.job(wildcards.job).memory * attempt,
            runtime=lambda wildcards, attempt: job_resources.longer(engine.job(wildcards.job).minutes, attempt),
            nodes=1,
            **AFTER_QUEUED,
        shell:
            MAKE

    workflow.get_rule(f"make_{rule_suffix(_queue)}").docstring = f"Make the content that {_queue} needs and no earlier stage."


rule data:
    """Raw data onto this disk, checked and indexed."""
    input:
        lambda wildcards: engine.job_receipts(ALL, DATA),


rule backbones:
    """The backbones, released or pretrained from nothing."""
    input:
        lambda wildcards: engine.job_receipts(ALL, "backbones"),


rule features:
    """The backbones, and the images of each data set, encoded once."""
    input:
        lambda wildcards: engine.job_receipts(ALL, *PREPARED),


rule runs:
    """Every method trained and scored, with every seed."""
    input:
        lambda wildcards: engine.job_receipts(ALL),
