# A rule for each track. Evaluations that share a pass over the images are made by the first of them, once.

for _rule, _digests in graph.rules("evaluations").items():

    rule:
        name:
            _rule
        input:
            lambda wildcards: records(job(wildcards).needs),
        output:
            update("results/evaluations/{digest}/record.json"),
        wildcard_constraints:
            digest="|".join(_digests),
        log:
            "results/logs/evaluations/{digest}.log",
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


rule runs:
    """All methods, trained and evaluated with all seeds."""
    input:
        records(graph.keys("runs", "evaluations")),
