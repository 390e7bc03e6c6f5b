# What all trainings on a data set share: backbones, and its images, decoded and encoded once.


use rule index_data as make_backbone with:
    output:
        update("results/backbones/{digest}/record.json"),
    log:
        "results/logs/backbones/{digest}.log",


use rule index_data as decode_pixels with:
    output:
        update("results/pixels/{digest}/record.json"),
    log:
        "results/logs/pixels/{digest}.log",


use rule index_data as encode_features with:
    output:
        update("results/features/{digest}/record.json"),
    log:
        "results/logs/features/{digest}.log",


use rule index_data as encode_grids with:
    output:
        update("results/grids/{digest}/record.json"),
    log:
        "results/logs/grids/{digest}.log",


rule features:
    """The backbones, and the images of each data set, decoded and encoded once."""
    input:
        records(graph.keys("data", "backbones", "pixels", "features", "grids")),
