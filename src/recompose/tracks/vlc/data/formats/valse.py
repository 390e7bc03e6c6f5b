"""VALSE: a caption and its foil for an image, in eleven files of seven phenomena (Parcalabescu et al., 2022).

An item is kept where at least two of the three people who were asked took the caption alone to describe the image, as
the released code keeps them (Heidelberg-NLP/VALSE at 2152d90, ``lxmert_valse_eval.py``).
"""

NAME = "valse"
LAYOUT = """\
valse/{existence,plurals,counting-hard,counting-small-quant,counting-adversarial,relations,action-replacement,\
actant-swap,coreference-standard,coreference-hard,foil-it}.json: the folder data of github.com/Heidelberg-NLP/VALSE
images/coco/{train2014,val2014,val2017}: cocodataset.org
images/visual7w/v7w_*.jpg: the images of Visual7W, ai.stanford.edu/~yukez/visual7w
images/swig/*.jpg: images_512.zip of github.com/allenai/swig
images/visdial/VisualDialog_val2018/*.jpg: VisualDialog_val2018.zip of visualdialog.org/data"""
