"""ComVG: which of two images of Visual Genome a sentence describes (Jiang et al., 2024).

As ``ComVG/clip_baseline.py`` of eric-ai-lab/ComCLIP at 75ef16e reads it.
"""

NAME = "comvg"
LAYOUT = """\
comvg/ComVG.csv: datasets/ComVG.csv of github.com/eric-ai-lab/ComCLIP
images/vg/<number>.jpg: both parts of Visual Genome's images (VG_100K and VG_100K_2) in one folder, visualgenome.org"""
