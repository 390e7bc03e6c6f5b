"""Retrieval: images and their captions, each to be found by the other among all.

COCO and Flickr30k are Karpathy's test splits, in the form that BLIP published and the loaders of ARO and others read
(a list of images with their captions), or in Karpathy's own. COCO-Counterfactuals has pairs of two images and two
captions.
"""

LAYOUTS = {
    "coco": """\
coco/coco_karpathy_test.json: storage.googleapis.com/sfr-vision-language-research/datasets/coco_karpathy_test.json, or
coco/dataset_coco.json of Karpathy's caption_datasets.zip, cs.stanford.edu/people/karpathy/deepimagesent
images/coco/val2014/*.jpg: cocodataset.org""",
    "flickr30k": """\
flickr30k/flickr30k_test.json: storage.googleapis.com/sfr-vision-language-research/datasets/flickr30k_test.json, or
flickr30k/dataset_flickr30k.json of Karpathy's caption_datasets.zip, cs.stanford.edu/people/karpathy/deepimagesent
images/flickr30k/flickr30k-images/*.jpg: asked for by a form at shannon.cs.illinois.edu/DenotationGraph""",
    "coco_counterfactuals": """\
coco_counterfactuals/examples.jsonl: data/examples.jsonl of huggingface.co/datasets/Intel/COCO-Counterfactuals
images/coco_counterfactuals/*.jpg: data/images.zip there""",
}
