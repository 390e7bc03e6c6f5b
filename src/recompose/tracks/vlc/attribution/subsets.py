"""The parts of suites that CLIP-CAE is evaluated on (Li et al., 2024, Section 4 and Appendix B), and their means.

Details that the text leaves open follow its first author's other code (hiker-lw/MACCO at 97fbae1,
``eval/evaluate_comp_benchmark.py`` and ``eval/evaluate_vl_checklist.py``). Six parts are metrics of the track itself:
``aro/vg_attribution`` (pairs of 25 items or more), ``sugarcrepe/replace_rel``, ``vl_checklist/all/relation`` and
``vl_checklist/all/attribute`` (of all items, as MACCO has them), ``comvg``, and ``svo_probes/verb_neg`` for SVO-Probes.
The others are declared here, under names that begin with ``cae/``, and computed in ``faithfulness.py``.
"""

from recompose.tracks.vlc.data.formats.vl_checklist import MEAN_OF_ALL
from recompose.tracks.vlc.suites.subtasks import Tree, macro, names_in

METHODS = ("attention", "gradcam", "perturbation", "gradient")  # of attribution, in the paper's order
# relations without a direction: ARO's authors exclude them from its mean (notebook at 81fdd20), and MACCO three more
_SYMMETRIC = """
    leaning against, pulled by, pulling, adjusting, attached to, between, bigger than, biting, boarding, brushing,
    chewing, cleaning, climbing, close to, coming from, coming out of, contain, crossing, dragging, draped over,
    drinking, drinking from, driving, driving down, driving on, eating from, eating in, enclosing, exiting, facing,
    filled with, floating in, floating on, flying, flying above, flying in, flying over, flying through, full of, going
    down, going into, going through, grazing in, growing in, growing on, guiding, hanging from, hanging in, hanging
    off, hanging over, higher than, holding onto, hugging, in between, jumping off, jumping on, jumping over, kept in,
    larger than, leading, leaning over, leaving, licking, longer than, looking in, looking into, looking out, looking
    over, looking through, lying next to, lying on top of, making, mixed with, mounted on, moving, on the back of, on
    the edge of, on the front of, on the other side of, opening, painted on, parked at, parked beside, parked by,
    parked in, parked in front of, parked near, parked next to, perched on, petting, piled on, playing, playing in,
    playing on, playing with, pouring, reaching for, reading, reflected on, riding on, running in, running on, running
    through, seen through, sitting behind, sitting beside, sitting by, sitting in front of, sitting near, sitting next
    to, sitting under, skiing down, skiing on, sleeping in, sleeping on, smiling at, sniffing, splashing, sprinkled on,
    stacked on, standing against, standing around, standing behind, standing beside, standing in front of, standing
    near, standing next to, staring at, stuck in, surrounding, swimming in, swinging, talking to, topped with,
    touching, traveling down, traveling on, tying, typing on, underneath, wading in, waiting for, walking across,
    walking by, walking down, walking next to, walking through, working in, working on, worn on, wrapped around,
    wrapped in, by, of, near, next to, with, beside, on the side of, around
"""
SYMMETRIC = frozenset(" ".join(relation.split()) for relation in _SYMMETRIC.split(","))
# Winoground's items that require composition and nothing else (Diwan et al., 2022); their list also has 313
_CLEAN = """
    0 1 2 5 6 7 8 9 11 12 14 15 17 18 19 20 21 24 26 29 30 32 33 34 35 37 39 43 45 47 48 50 51 52 53 54 56 57
    59 60 64 66 67 71 79 80 85 87 89 90 91 92 94 98 99 100 101 102 104 105 106 107 108 109 112 115 117 120 122
    123 124 125 126 127 129 137 139 140 141 142 145 146 147 151 153 154 157 158 160 161 162 165 166 167 168 169
    170 171 175 177 178 179 180 181 183 184 185 186 194 195 196 197 202 205 207 212 213 216 225 231 236 240 243
    244 248 250 251 252 256 259 261 265 266 269 270 271 272 273 278 279 283 285 288 289 290 291 294 297 301 302
    306 308 309 317 328 337 341 349 357 360 366 368 369 370 372 378 379 380 389 391 397
"""
CLEAN = frozenset(map(int, _CLEAN.split()))
WINOGROUND_ITEMS = 400  # as published; of synthetic items, which have no such list, all count
SENSES = ("text", "image", "group")
INTERVAL_PARTS = 4  # Table 11: groups of items, from whose scores the interval follows


RELATION = "cae/aro/relation"  # the mean over relations that have a direction
ARO = macro("cae/aro", RELATION, "aro/vg_attribution")
SUGARCREPE_ATTRIBUTE = macro(
    "cae/sugarcrepe/attribute", *(f"sugarcrepe/{kind}_att" for kind in ("add", "replace", "swap"))
)
SUGARCREPE = macro("cae/sugarcrepe", "sugarcrepe/replace_rel", SUGARCREPE_ATTRIBUTE)
CHECKLIST = macro("cae/vl_checklist", *MEAN_OF_ALL.parts)
VALSE_ACTIONS = ("valse/action-replacement", "valse/actant-swap")
VALSE = macro("cae/valse", *VALSE_ACTIONS, "valse/relations")  # three files with equal weights, as in the text
# actions and places with equal weights, as in MACCO
VALSE_KINDS = macro("cae/valse/kinds", macro("cae/valse/actions", *VALSE_ACTIONS), "valse/relations")
MEAN = macro("cae", ARO, SUGARCREPE, CHECKLIST, VALSE, "comvg")  # Table 5
TREES: tuple[Tree, ...] = (MEAN, VALSE_KINDS)

WINOGROUND = "cae/winoground"  # its group score over CLEAN items; /text and /image
PAIRS = "cae/winoground/pairs"  # Table 12: the mean over pairs, not over items
OF_WINOGROUND = tuple(name for base in (WINOGROUND, PAIRS) for name in (base, f"{base}/text", f"{base}/image"))
ENDS = tuple(f"{WINOGROUND}/{sense}/{end}" for sense in SENSES for end in ("low", "high"))  # of 95 % intervals
ATTRIBUTION = "cae/attribution"
# for each method of attribution: mean scores of tokens and their ratio, and the accuracy of the items in the half with
# the smaller ratios and in the other half
SCORES = tuple(f"{ATTRIBUTION}/{method}/{part}" for method in METHODS for part in ("objects", "composition", "ratio"))
RIGHT = tuple(f"{ATTRIBUTION}/{method}/{half}" for method in METHODS for half in ("right_below", "right_above"))
SIMILARITY = f"{ATTRIBUTION}/similarity"  # the cosine of a caption and its relation or attribute alone

_MEANS = (name for tree in TREES for name in names_in(tree) if name.startswith("cae") and name != RELATION)
DECLARED = (RELATION, *_MEANS, *OF_WINOGROUND, *ENDS, *RIGHT)  # names of metrics that are shares
PLAIN = (*SCORES, SIMILARITY)  # names of metrics that are plain numbers
