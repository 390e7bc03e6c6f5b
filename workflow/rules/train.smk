# A rule for each method. Variants and seeds are jobs of their method's rule, and stand in the message.

for _rule, _digests in graph.rules("runs").items():

    rule:
        name:
            _rule
        input:
            lambda wildcards: records(job(wildcards).needs),
        output:
            update("results/runs/{digest}/record.json"),
        wildcard_constraints:
            digest="|".join(_digests),
        log:
            "results/logs/runs/{digest}.log",
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
