"""Attribution of a caption's similarity with an image to tokens and patches, by CLIP-CAE's four methods (Section 3).

Each ``by_`` module has a function of a backbone, images, and the token ids [texts, context] of a caption of each; it
returns scores [texts, context]. Images are pixels [texts, 3, H, W], or their embeddings [texts, E], so that a training
step encodes an image once. The similarity S(I, T) is the cosine of the two embeddings divided by tau (Eq. 1). A text's
scores depend on that text and its image alone: batches can be split, and ids cut at the longest text.

The paper has no released code, and leaves conventions open. Each is a setting with a default:

| method | setting | default | reason |
| --- | --- | --- | --- |
| attention | ``row`` | ``eot`` | the tower has no [CLS]; this token becomes the embedding |
| | ``layers``, ``heads`` | ``mean`` | the paper's text |
| gradcam | ``heads`` | ``mean`` | the paper's text, and Chefer et al.; its Eq. 7 prints a sum |
| | ``clamp`` | ``each`` | Eq. 7 and Chefer et al. take the positive part of each head before reducing over heads |
| | ``layers`` | ``all`` | the paper's text; the notebook of Chefer et al. for CLIP begins at the last layer |
| gradient | ``support`` | ``text`` | padding is no token of a text |
| | ``derived`` | ``logit`` | Eq. 1, with its factor of about 100; without it, scores of tokens are nearly equal |

The caller chooses the perturbations and their number. Some of these choices change the scale of scores, and so the
meaning of the loss's weight. Functions with ``create_graph`` take derivatives, and their scores can be differentiated
again if it is set; the others follow the caller's gradient mode. Image embeddings take gradients as printed, except in
perturbation (Eq. 9).
"""
