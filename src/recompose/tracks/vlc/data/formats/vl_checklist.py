"""VL-Checklist: a caption and one with a word replaced, in 56 sets of objects, attributes and relations.

Zhao et al., 2022; om-ai-lab/VL-CheckList at 6f8d6a3. The first of ``POS`` and the first of ``NEG`` are compared.
"""

NAME = "vl_checklist"
LAYOUT = """\
vl_checklist/data/{Object,Attribute,Relation}/...json: the folder data of github.com/om-ai-lab/VL-CheckList
images/vg/<number>.jpg: both parts of Visual Genome's images (VG_100K and VG_100K_2) in one folder, visualgenome.org
images/swig/*.jpg: images_512.zip of github.com/allenai/swig
images/hake/{hake_images_20190730,hake_images_20200614,hcvrd,hico_20160224_det,openimages,pic,vcoco}/...: as in
DATASETS.md of VL-CheckList, from github.com/DirtyHarryLYL/HAKE (links of several parts are dead)"""
