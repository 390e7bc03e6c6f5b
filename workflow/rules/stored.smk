# What is kept in results/: data, backbones, features, grids, runs with their evaluations. A job is a process that makes a batch of them; what
# they keep is no output of Snakemake, so that nothing a killed process had reached is lost.

JOBS = "results/receipts/{scope}/%s/{job}.json"

for _phase in (*PREPARED, TRAINED[0]):

    rule:
        name:
            f"make_{_phase}"
        """A process of this phase; its name says what it makes."""
        input:
            lambda wildcards: ancient(engine.before(wildcards.scope, wildcards.job)),
        output:
            receipt=JOBS % _phase,
        log:
            f"results/logs/{_phase}/{{scope}}-{{job}}.log",
        params:
            says=lambda wildcards: engine.job(wildcards.job).says,
        message:
            "{params.says}"
        threads: lambda wildcards: engine.job(wildcards.job).threads
        resources:
            gpu=lambda wildcards: engine.job(wildcards.job).gpus,
            mem_mb=lambda wildcards, attempt: engine.job(wildcards.job).memory * attempt,
            runtime=lambda wildcards, attempt: demands.longer(engine.job(wildcards.job).minutes, attempt),
            nodes=1,
            **BEHIND,
        retries: 1 if _phase == "data" else None # as the profile has it
        shell:
            "python -m recompose make --job {wildcards.job} --receipt {output.receipt} 2>&1 | tee {log}"


rule data:
    """Raw data onto this disk, checked and indexed."""
    input:
        lambda wildcards: engine.receipts(ALL, "data"),


rule features:
    """The backbones, and the images of each data set, encoded once."""
    input:
        lambda wildcards: engine.receipts(ALL, *PREPARED),


rule runs:
    """Every method trained and scored, with every seed."""
    input:
        lambda wildcards: engine.receipts(ALL),
