# What is made once and stored: index_data, make_backbone, decode_pixels, encode_features, encode_grids, a rule for each
# method such as train_msci, and one for the evaluations of each track. All of them are alike: they wait for the records
# of what they need, and leave a record. Variants and seeds are jobs of their method's rule, and stand in the message.
# Evaluations that share a pass over the images are made by the first of them, once.

def job(wildcards):
    """Return the job of the content that wildcards name."""
    return graph.by_digest[wildcards.digest]


def content_inputs(job):
    """Return what a content waits for, and of a due one what is newer: it may be there, made from other content."""
    return [*records(job.needs), *([DUE.name] if job.is_due else [])]


RESOURCES = {
    "gpu": lambda wildcards: job(wildcards).gpus,
    "mem_mb": lambda wildcards, attempt: job(wildcards).memory * attempt,
    "runtime": lambda wildcards, attempt: job(wildcards).minutes * attempt,
}

for _rule, _kind, _digests in graph.rules():

    rule:
        name:
            _rule
        input:
            lambda wildcards: content_inputs(job(wildcards)),
        output:
            update(f"results/{_kind}/{{digest}}/record.json"),
        wildcard_constraints:
            digest="|".join(_digests),
        log:
            f"results/logs/{_kind}/{{digest}}.log",
        params:
            title=lambda wildcards: job(wildcards).title,
            again=lambda wildcards: "--again" if job(wildcards).key in call.forced else "",
        message:
            "{params.title}"
        threads: lambda wildcards: job(wildcards).threads
        priority: lambda wildcards: job(wildcards).priority
        resources:
            **(RESOURCES if call.scheduled or graph.uses_gpus else {}),
        retries: 1  # on a cluster with more memory and time; an ended run resumes from its last whole epoch
        shell:
            "python -m recompose.workflow.worker make --recipe {output} {params.again} > {log} 2>&1"


def ends(*kinds):
    """Return the records of these kinds that bring in all the others."""
    return [f"results/{key}/record.json" for key in graph.ends(*kinds)]


rule data:
    """Raw data, downloaded or generated, checked and indexed."""
    message:
        "raw data, checked and indexed"
    input:
        ends("data"),


rule features:
    """The backbones, and the images of each data set, decoded and encoded once."""
    message:
        "backbones, and images that are encoded once"
    input:
        ends("data", "backbones", "pixels", "features", "grids"),


rule runs:
    """All methods, trained and evaluated with all seeds."""
    message:
        "all methods, trained and evaluated"
    input:
        ends("runs", "evaluations"),
