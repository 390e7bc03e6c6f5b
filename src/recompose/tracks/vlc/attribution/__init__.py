"""How much each token of a caption counts for its similarity with an image, in the four ways of CLIP-CAE (Section 3),
and how much each patch of the image does.

Each function takes a backbone, images, and the token ids [texts, context] of a caption of each, and gives scores
[texts, context]. Images are pixels [texts, 3, H, W], or, where they are known, their embeddings [texts, E], so that a
training step encodes an image once. The similarity S(I, T) is the cosine of the two embeddings divided by tau (Eq. 1).
A text's scores depend on that text and its image alone: batches can be cut into parts, and ids at the longest text.

The paper has no released code, and leaves conventions open. Each is a setting whose default is named here:

| method | setting | default | why |
| --- | --- | --- | --- |
| attention | ``row`` | ``eot`` | the tower has no [CLS], and this token becomes the embedding |
| | ``layers``, ``heads`` | ``mean`` | as the paper says of both |
| gradcam | ``heads`` | ``mean`` | as its text says, and Chefer et al. do; its Eq. 7 prints a sum |
| | ``clamp`` | ``each`` | Eq. 7 and Chefer et al. take the positive part of each head before they join heads |
| | ``layers`` | ``all`` | as the paper says; the notebook of Chefer et al. for CLIP begins at the last layer |
| gradient | ``support`` | ``text`` | padding is no token of a text |

How many perturbations there are, and which, is up to who gives them. Some of these choices change how large scores
are, and with that what a weight of the loss means. Where a function has ``create_graph``, derivatives are taken, and
scores can be differentiated again if it is set; the others do as the caller's gradient mode says. Image embeddings take
gradients as printed, in all but perturbation (Eq. 9).
"""
