"""Winoground: two images and two captions of the same words, to be matched (Thrush et al., 2022)."""

NAME = "winoground"
LAYOUT = """\
winoground/examples.jsonl: data/examples.jsonl of huggingface.co/datasets/facebook/winoground, gated: its conditions
have to be accepted first; where it is offered as parquet only, take a revision before that
images/winoground/ex_*_img_*.png: data/images.zip there"""
