"""ColorSwap: two images and two captions whose colours are exchanged, to be matched (Burapacheep et al., 2024)."""

NAME = "colorswap"
LAYOUT = """\
colorswap/test.json: data/test.json of the archive that github.com/Top34051/colorswap links to (Google Drive), also
huggingface.co/datasets/stanfordnlp/colorswap, where an account is asked for
images/colorswap/images/img_*.png: images.zip of the archive"""
