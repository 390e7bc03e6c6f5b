"""ELEVATER: 21 sets of images to be told apart by prompts (Li et al., 2022).

Prompts are those of the toolkit (Computer-Vision-in-the-Wild/Elevater_Toolkit_IC at 00d0af7); images and labels are
found as its package vision-datasets (microsoft/vision-datasets at 21d86a7) finds them: a registry names, for each set,
its folder and the index of its test split, which is either lines of ``image label`` or COCO's JSON.
"""

NAME = "elevater"
LAYOUT = """\
elevater/elevater_prompts.json: {"class_map": {set: [class, ...]}, "template_map": {set: [template with {}, ...]}}, the
two tables of vision_benchmark/datasets/prompts.py of github.com/Computer-Vision-in-the-Wild/Elevater_Toolkit_IC
elevater/vision_datasets.json: vision_benchmark/resources/datasets/vision_datasets.json there
elevater/<root_folder>/<index_path>: the index of a set's test split, named in vision_datasets.json, such as
elevater/classification/caltech_101_20211007/test.txt; download_datasets.py of
github.com/Computer-Vision-in-the-Wild/DataDownload gets them and the archives (through a signed link that may expire)
images/elevater/<root_folder>/<archive without .zip>/...: each archive unpacked into a folder of its name: the index's
test.zip@0/1.jpg is images/elevater/classification/caltech_101_20211007/test/0/1.jpg
sets without an index are left out; imagenet-1k has to be obtained from image-net.org"""
