# The content of results/: data, backbones, features, grids, runs with their evaluations. A job makes a batch. The
# content is no output of Snakemake, which would delete the progress of a killed process.
#
# There is a rule for each stage, because in Snakemake rules have priorities, and jobs do not. Steps of `all` have no
# docstring, so that `snakemake --list` describes what users call, and that alone.

JOBS = "results/receipts/{scope}/%s/{job}.json"
MAKE = "python -m recompose.worker make --job {wildcards.job} --receipt {output.receipt} 2>&1 | tee {log}"


rule make_data:
    output:
        receipt=JOBS % DATA,
    log:
        "results/logs/data/{scope}-{job}.log",
    params:
        says=lambda wildcards: engine.job(wildcards.job).says,
    message:
        "{params.says}"
    priority: len(engine.queues) + 1 # before all stages: data of the first stage comes first
    resources:
        mem_mb=lambda wildcards, attempt: engine.job(wildcards.job).memory * attempt,
        runtime=lambda wildcards, attempt: job_resources.longer(engine.job(wildcards.job).minutes, attempt),
        nodes=1,
        **AFTER_QUEUED,
    retries: 1
    shell: # the server is still importing in most cases, and these jobs need few imports
        MAKE.replace("recompose.worker", "recompose.worker --if-ready")


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


rule data:
    """Raw data, downloaded or generated, checked and indexed."""
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
    """All methods, trained and scored with all seeds."""
    input:
        lambda wildcards: engine.job_receipts(ALL),
