# What is made once and stored: index_data, make_backbone, decode_pixels, encode_features, encode_grids, a rule for each
# method such as train_msci, and one for the evaluations of each track. All of them are alike: they wait for the records
# of what they need, and leave a record. Variants and seeds are jobs of their method's rule, and stand in the message.
# Evaluations that share a pass over the images are made by the first of them, once.

for _rule, _kind, _digests in graph.rules():

    rule:
        name:
            _rule
        input:
            lambda wildcards: records(job(wildcards).needs),
        output:
            update(f"results/{_kind}/{{digest}}/record.json"),
        wildcard_constraints:
            digest="|".join(_digests),
        log:
            f"results/logs/{_kind}/{{digest}}.log",
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
        shell:
            "python -m recompose.worker make --recipe {output} {params.again} > {log} 2>&1"


rule data:
    """Raw data, downloaded or generated, checked and indexed."""
    message:
        "raw data, checked and indexed"
    input:
        list(map(path_of, graph.ends("data"))),


rule features:
    """The backbones, and the images of each data set, decoded and encoded once."""
    message:
        "backbones, and images that are encoded once"
    input:
        list(map(path_of, graph.ends("data", "backbones", "pixels", "features", "grids"))),


rule runs:
    """All methods, trained and evaluated with all seeds."""
    message:
        "all methods, trained and evaluated"
    input:
        list(map(path_of, graph.ends("runs", "evaluations"))),
