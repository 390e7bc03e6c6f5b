# Raw data: downloaded or generated, checked and indexed. The rules that make content inherit from this one.


rule index_data:
    input:
        lambda wildcards: records(job(wildcards).needs),
    output:
        update("results/data/{digest}/record.json"),
    log:
        "results/logs/data/{digest}.log",
    params:
        title=lambda wildcards: job(wildcards).title,
        again=again,
    message:
        "{params.title}"
    threads: lambda wildcards: job(wildcards).threads
    priority: lambda wildcards: job(wildcards).priority
    resources:
        **RESOURCES,
    retries: 1
    group: GROUP
    shell:
        MAKE


rule data:
    """Raw data, downloaded or generated, checked and indexed."""
    input:
        records(graph.keys("data")),
