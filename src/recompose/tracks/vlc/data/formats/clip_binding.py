"""CLIP-Binding: which of five pairs of colours and shapes an image of two objects shows (Lewis et al., 2024).

The generalization split of the data set of two objects, the one that CLIP-CAE reports (its appendix L), as
``ObjectDataset`` of marthaflinderslewis/clip-binding at bb6f55e reads it.
"""

NAME = "clip_binding"
LAYOUT = """\
clip_binding/two_object/gen.csv: two_object/gen.csv of the archive that github.com/marthaflinderslewis/clip-binding
links to (Google Drive)
images/clip_binding/two_object/images/gen/...: two_object/images/gen of the archive"""
