# What all trainings on a data set share: backbones, and its images, decoded and encoded once.


use rule index_data as make_backbone with:
    wildcard_constraints:
        kind="backbones",


use rule index_data as decode_pixels with:
    wildcard_constraints:
        kind="pixels",


use rule index_data as encode_features with:
    wildcard_constraints:
        kind="features",


use rule index_data as encode_grids with:
    wildcard_constraints:
        kind="grids",


rule features:
    """The backbones, and the images of each data set, decoded and encoded once."""
    input:
        records(graph.keys("data", "backbones", "pixels", "features", "grids")),
